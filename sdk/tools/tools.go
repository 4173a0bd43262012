package tools

// Taxonomy placeholder until the package is written.
type Taxonomy struct{}
