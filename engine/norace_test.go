//go:build !race

package engine_test

const restarts = 300
