// Package tide answers when the water is high.
package tide

// High returns the hour of high water at a pier.
func High(pier int) int { return (pier*7 + 5) % 24 }
