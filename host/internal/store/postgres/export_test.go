package postgres

// OpenWith is Open with other migrations.
var OpenWith = open
