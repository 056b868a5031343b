module tallystick.example/proof

go 1.25

require (
	github.com/google/uuid v1.6.0
	github.com/oapi-codegen/nullable v1.1.0
	github.com/oapi-codegen/runtime v1.8.0
)
