//go:build !linux

package room

func weakenedHelper() {}

func before() {}
