//go:build !race

package collect

const racing = false
