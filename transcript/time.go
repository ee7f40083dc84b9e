package transcript

import "time"

// ParseTime reads the times that logs and session files have, as microseconds
// since 1970; 0 when it is none.
func ParseTime(s []byte) int64 {
	if t := plainTime(s); t != 0 {
		return t
	}
	if t, err := time.Parse(time.RFC3339Nano, string(s)); err == nil {
		return t.UnixMicro()
	}
	return 0
}

// plainTime reads 2026-11-15T09:00:00, with or without a fraction, in UTC.
func plainTime(s []byte) int64 {
	if len(s) < 20 || s[4] != '-' || s[7] != '-' || s[10] != 'T' || s[13] != ':' || s[16] != ':' {
		return 0
	}
	bad := false
	num := func(from, to int) int {
		n := 0
		for _, c := range s[from:to] {
			if c < '0' || c > '9' {
				bad = true
			}
			n = n*10 + int(c-'0')
		}
		return n
	}
	micro, scale, i := 0, 100_000, 19
	if s[i] == '.' {
		for i++; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
			micro += int(s[i]-'0') * scale
			scale /= 10
		}
	}
	if zone := string(s[i:]); zone != "Z" && zone != "+00:00" {
		return 0
	}
	t := time.Date(num(0, 4), time.Month(num(5, 7)), num(8, 10), num(11, 13), num(14, 16), num(17, 19), micro*1000, time.UTC)
	if bad {
		return 0
	}
	return t.UnixMicro()
}
