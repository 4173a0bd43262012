package fit

import (
	"strconv"

	"github.com/thresh-dev/thresh/sdk/content"
)

// Part is a field of a block: the position of the part or call of a message that it was made from.
func Part(i int) content.Fields {
	return content.FieldsOf(content.Field{Name: "part", Value: strconv.AppendInt(nil, int64(i), 10)})
}

// PartOf reads the field; false if a strategy made the block.
func PartOf(extra content.Fields) (i int, ok bool) {
	i, err := strconv.Atoi(string(extra.Get("part")))
	return i, err == nil && i >= 0
}
