package service

import _ "embed"

// OpenAPI describes the methods as they are served over HTTP, made from the table and the types of this package.
//
//go:embed openapi.json
var OpenAPI []byte
