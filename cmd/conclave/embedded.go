package main

import (
	"conclave/agent"
	"conclave/agent/offline"
)

// embeddedParty is who answers where nobody else is named.
func embeddedParty() agent.Agent { return offline.New(offline.Options{}) }
