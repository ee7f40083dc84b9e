package gateway

import (
	"net/http"
	"time"
)

// Unanswered says whether the last that was asked since a moment has no answer
// because of the model's server, the way to it, or a budget: it was not reached,
// was too busy, refused the key, does not have the model, broke off, or nothing
// more may be spent. Whoever asks the same again asks the same server again. That
// a request was not understood, or was too long, is no such thing: another one may
// be answered. Nor is it when the program did not wait.
func (s Summary) Unanswered(since time.Time) bool {
	var last time.Time
	unanswered := false
	for _, x := range s.Exchanges {
		if !x.Sent.Before(since) && !x.Sent.Before(last) {
			last, unanswered = x.Sent, x.unanswered()
		}
	}
	for _, r := range s.Refusals {
		if !r.at.Before(since) && !r.at.Before(last) {
			last, unanswered = r.at, rule(r.Rule) == ruleBudget
		}
	}
	return unanswered
}

func (x Exchange) unanswered() bool {
	if x.HungUp {
		return false
	}
	if x.Error != "" || x.Failed {
		return true
	}
	return x.Status != http.StatusOK && !NotUnderstood(x.Status)
}

// NotUnderstood says of a status of HTTP that the request is what was wrong, so that
// another one may be answered.
func NotUnderstood(status int) bool {
	switch status {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return true
	}
	return false
}
