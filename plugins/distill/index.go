package distill

// index numbers the identifiers of a history.
type index struct {
	known map[string]int32
	items []item
}

// item is an identifier.
type item struct {
	stays bool // it stands in an entry that stays as it is
}

// mention returns an identifier's number.
func (x *index) mention(word string) int32 {
	id, ok := x.known[word]
	if !ok {
		id = int32(len(x.items))
		x.known[word] = id
		x.items = append(x.items, item{})
	}
	return id
}
