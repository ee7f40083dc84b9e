package claude

import (
	"testing"

	"conclave/agent"
	"conclave/agent/agenttest"
	"conclave/internal/modelstub"
)

func TestConformance(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		agenttest.Run(t, agenttest.Subject{Survives: true, New: func(t *testing.T, answers ...agenttest.Answer) (agent.Agent, agent.Spec) {
			var replies []modelstub.Reply
			for _, a := range answers {
				var r modelstub.Reply
				if a.Thinks != "" {
					r.Blocks = append(r.Blocks, modelstub.Think(a.Thinks))
				}
				for _, text := range a.Says {
					r.Blocks = append(r.Blocks, modelstub.Say(text))
				}
				if a.Hangs {
					r.Hold = make(chan struct{})
				}
				replies = append(replies, r)
			}
			r := prepare(t, setup{version: version, handler: modelstub.Script(replies...)})
			return r.agent, r.spec
		}})
	})
}
