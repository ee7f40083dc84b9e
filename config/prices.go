package config

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"conclave/internal/price"
)

// Price is what a million tokens cost, in US dollars, and one search of the web.
// What is read from the cache or written to it costs what other input does, unless
// it is said; for an hour, what it costs otherwise; a search nothing.
type Price struct {
	Input        *float64 `yaml:"input"`
	Output       *float64 `yaml:"output"`
	CacheRead    *float64 `yaml:"cache_read"`
	CacheWrite   *float64 `yaml:"cache_write"`
	CacheWrite1h *float64 `yaml:"cache_write_1h"`
	WebSearch    *float64 `yaml:"web_search"`
}

// said lists what the file says, by name.
func (p Price) said() (names []string, usd []float64) {
	for _, v := range []struct {
		name string
		usd  *float64
	}{{"input", p.Input}, {"output", p.Output}, {"cache_read", p.CacheRead}, {"cache_write", p.CacheWrite},
		{"cache_write_1h", p.CacheWrite1h}, {"web_search", p.WebSearch}} {
		if v.usd != nil {
			names, usd = append(names, v.name), append(usd, *v.usd)
		}
	}
	return names, usd
}

// mostUSD is more than a million tokens of anything costs.
const mostUSD = 1e6

func checkPrices(prices map[string]Price) error {
	for _, model := range slices.Sorted(maps.Keys(prices)) {
		p := prices[model]
		if p.Input == nil || p.Output == nil {
			return fmt.Errorf("prices: %s: it needs input and output, in US dollars per million tokens, "+
				"such as {input: 3, output: 15, cache_read: 0.3, cache_write: 3.75}", model)
		}
		names, usd := p.said()
		for i, n := range usd {
			if !(n >= 0 && n <= mostUSD) {
				return fmt.Errorf("prices: %s: %s: %v is no price in US dollars", model, names[i], n)
			}
		}
	}
	return nil
}

// PriceList is what the file says about prices.
func (c Config) PriceList() price.List {
	list := price.List{}
	for model, p := range c.Prices {
		if p.Input == nil || p.Output == nil {
			continue // no file that was read has such a one
		}
		write := cmp.Or(p.CacheWrite, p.Input)
		list[model] = price.Price{Input: *p.Input, Output: *p.Output, CacheRead: *cmp.Or(p.CacheRead, p.Input),
			CacheWrite: *write, CacheWrite1h: *cmp.Or(p.CacheWrite1h, write), Search: *cmp.Or(p.WebSearch, new(float64))}
	}
	return list
}

// priceLines are the lines to move into the person's own file.
func priceLines(prices map[string]Price) []string {
	var lines []string
	for _, model := range slices.Sorted(maps.Keys(prices)) {
		names, usd := prices[model].said()
		for i, n := range usd {
			names[i] += ": " + strconv.FormatFloat(n, 'g', -1, 64)
		}
		lines = append(lines, "  "+scalar(model)+": {"+strings.Join(names, ", ")+"}")
	}
	return underKey("prices", lines)
}
