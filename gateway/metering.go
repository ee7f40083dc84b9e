package gateway

// Meter counts what an answer consumed, for an agent in this process that reads
// it: by the same reading as the ledger's, so that nothing is counted in two
// ways. It is fed the answer's bytes as they come.
type Meter struct {
	meter   meter
	request int64
}

// NewMeter returns a meter for the streamed answer to a request of so many
// bytes.
func NewMeter(kind Kind, request int64) *Meter {
	speaks, _ := apiOf(kind) // whoever asks a kind that there is not has no answer to read
	return &Meter{meter: meter{api: speaks, sse: true}, request: request}
}

// Write takes the next bytes of the answer. It never fails.
func (m *Meter) Write(p []byte) (int, error) {
	m.meter.write(p)
	return len(p), nil
}

// Usage is what the answer has consumed, once no more of it will come.
// estimated says that it did not tell all of it.
func (m *Meter) Usage() (u Usage, estimated bool) {
	m.meter.end()
	return m.meter.total(guessTokens(m.request))
}

// soFar is what an answer has cost that goes on. A line that does not end is
// counted when it is longer than an event is.
func (m *meter) soFar(input int64) (u Usage, estimated bool) {
	if len(m.part) < longEvent {
		return m.total(input)
	}
	m.said += int64(len(m.part))
	defer func() { m.said -= int64(len(m.part)) }()
	return m.total(input)
}

const longEvent = 16 << 10

// total is what was told, or, where the last word on it never came, at least
// what can be guessed: hanging up early is no way around a budget.
func (m *meter) total(input int64) (u Usage, estimated bool) {
	if m.final {
		return m.usage, false
	}
	return m.usage.atLeast(Usage{Input: input, Output: guessTokens(m.said)}), true
}
