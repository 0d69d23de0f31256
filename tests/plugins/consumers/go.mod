// Keeps consumer.go out of a program that has the clone in its folder, as a submodule.
module consumer

go 1.24
