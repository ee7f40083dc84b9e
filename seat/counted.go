package seat

import (
	"context"
	"encoding/json"
	"time"

	"conclave/agent"
	"conclave/gateway"
	"conclave/transcript"
)

// settleTime is how long the ledger is given: a program may hang up on the last
// byte of an answer.
const settleTime = 2 * time.Second

func (s *Seat) settled() gateway.Summary {
	ctx, cancel := context.WithTimeout(context.Background(), settleTime)
	defer cancel()
	return s.gateway.Settle(ctx)
}

// count puts on the record what the gateway counted in a turn, for agents whose
// protocol does not tell what each response of the model consumed. Some of their
// programs tell the last response's, some their own estimate and some nothing.
func (s *Seat) count(reply *agent.Reply) error {
	if s.gateway == nil || s.plan.Agent.Adapter() != transcript.AdapterACP {
		return nil
	}
	if s.counted == nil {
		s.counted = map[string]transcript.Usage{}
	}
	reply.Usage = transcript.Usage{}
	for _, m := range s.settled().Models {
		now := transcript.Usage(m.Usage)
		used := now.Sub(s.counted[m.Model])
		s.counted[m.Model] = now
		if used.Total() == 0 {
			continue
		}
		used.CostUSD = 0
		if p, ok := s.plan.Prices.Of(m.Model); ok {
			used.CostUSD = p.Cost(used)
		}
		reply.Usage = reply.Usage.Add(used)
		model, err := json.Marshal(m.Model)
		if err != nil {
			return err
		}
		detail := append([]byte(`{"subtype":"gateway","model":`), model...)
		detail = append(used.AppendJSON(append(detail, `,"usage":`...)), '}')
		item := transcript.Item{Type: transcript.TokenUsage, Source: transcript.Main, Detail: detail}
		if s.session != nil {
			item.SessionID = s.session.Info().SessionID
		}
		if _, err := s.emitter.Emit(item); err != nil {
			return err
		}
	}
	return nil
}
