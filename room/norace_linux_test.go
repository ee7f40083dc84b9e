//go:build !race

package room

const raceFactor = 1
