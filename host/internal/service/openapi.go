package service

import _ "embed"

// OpenAPI describes the methods as they are served over HTTP, made from the rows and the types of package api.
//
//go:embed openapi.json
var OpenAPI []byte
