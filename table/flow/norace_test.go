//go:build !race

package flow

const underRace = false
