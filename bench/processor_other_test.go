//go:build !unix

package bench

import (
	"os"
	"time"
)

// processor is not known here.
func processor() time.Duration { return 0 }

// peakOf is not known there.
func peakOf(*os.ProcessState) float64 { return 0 }
