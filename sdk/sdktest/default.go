package sdktest

func or[T comparable](v, instead T) T {
	var zero T
	if v == zero {
		return instead
	}
	return v
}

func orNil[T any](v, instead *T) *T {
	if v == nil {
		return instead
	}
	return v
}
