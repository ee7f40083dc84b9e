package sql

// DescribedTables is how many tables are described.
var DescribedTables = len(described)
