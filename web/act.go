package web

import (
	"net/http"
	"strconv"
	"time"

	"conclave/app"
)

// actRoutes are what the pages show on which a person acts: what each role may
// know, the quest, the tables, the figures. All of them only look; what is done is
// a job.
func (s *Server) actRoutes(m *routes) {
	m.look("/api/policy", s.policy)
	m.look("/api/room", s.room)
	m.look("/api/records", s.records)
	m.look("/api/audit", s.audit)
	m.look("/api/run/{run}/audit", s.audit)
	m.look("/api/run/{run}/turn/{turn}", s.turn)
	m.look("/api/quest", s.quest)
	m.look("/api/quest/text", s.questText)
	m.look("/api/quest/file", s.questFile)
	m.look("/api/tables", s.tables)
	m.look("/api/table/{table}", s.table)
	m.look("/api/table/{table}/secrets", s.secrets)
	m.look("/api/table/{table}/audit", s.tableAudit)
	m.look("/api/usage", s.usage)
	m.look("/api/sql/schema", s.schema)
	m.ask("/api/sql", s.sql)
}

func (s *Server) policy(http.ResponseWriter, *http.Request) (any, error) {
	roles, err := s.app.Policy("")
	return map[string]any{"roles": roles, "kinds": s.app.PolicyKinds()}, err
}

func (s *Server) room(_ http.ResponseWriter, r *http.Request) (any, error) {
	q := r.URL.Query()
	return s.app.ShowRoom(r.Context(), app.RoomOf{Role: q.Get("role"), Work: q["work"]})
}

func (s *Server) records(http.ResponseWriter, *http.Request) (any, error) {
	list, err := s.app.Records()
	return map[string]any{"records": list}, err
}

// audit is what the records of this workspace show, or one. That something was
// found is its answer, and no failure.
func (s *Server) audit(_ http.ResponseWriter, r *http.Request) (any, error) {
	var names []string
	if run := r.PathValue("run"); run != "" {
		names = []string{run}
	}
	reports, err := s.app.Audit(names)
	if err != nil && !app.Said(err) {
		return nil, err
	}
	return map[string]any{"reports": reports, "clean": err == nil}, nil
}

func (s *Server) turn(_ http.ResponseWriter, r *http.Request) (any, error) {
	return s.app.Turn(r.PathValue("run"), r.PathValue("turn"))
}

func (s *Server) quest(_ http.ResponseWriter, r *http.Request) (any, error) {
	return s.app.ViewQuest(r.Context())
}

// questText is quest.md, or a conversation.
func (s *Server) questText(_ http.ResponseWriter, r *http.Request) (any, error) {
	text, err := s.app.QuestText(r.Context(), r.URL.Query().Get("conversation"))
	return map[string]string{"text": string(text)}, err
}

func (s *Server) questFile(_ http.ResponseWriter, r *http.Request) (any, error) {
	q := r.URL.Query()
	line, err := strconv.Atoi(q.Get("line"))
	if err != nil {
		return nil, badRequest("%q is no number of a line", q.Get("line"))
	}
	end, _ := strconv.Atoi(q.Get("end")) // without one it is one line
	return s.app.Cited(q.Get("path"), line, end)
}

func (s *Server) tables(_ http.ResponseWriter, r *http.Request) (any, error) {
	list, err := s.app.Tables(r.Context())
	return map[string]any{"tables": app.TablesSeenByAll(list), "adventures": app.Adventures()}, err
}

func (s *Server) table(_ http.ResponseWriter, r *http.Request) (any, error) {
	return s.app.ViewTable(r.Context(), r.PathValue("table"), r.URL.Query().Get("as"))
}

func (s *Server) secrets(_ http.ResponseWriter, r *http.Request) (any, error) {
	return s.app.SecretsOfTable(r.Context(), r.PathValue("table"), r.URL.Query().Get("as"))
}

// tableAudit is what fed each call of a table; what was found is its answer.
func (s *Server) tableAudit(_ http.ResponseWriter, r *http.Request) (any, error) {
	found, err := s.app.AuditTable(r.PathValue("table"))
	if err != nil && !app.Said(err) {
		return nil, err
	}
	return found, nil
}

func (s *Server) usage(_ http.ResponseWriter, r *http.Request) (any, error) {
	q := r.URL.Query()
	return s.app.Usage(r.Context(), app.UsageOf{By: q.Get("by"), Since: q.Get("since"), Until: q.Get("until")})
}

func (s *Server) schema(_ http.ResponseWriter, r *http.Request) (any, error) {
	return s.app.QuerySchema(r.Context(), app.Query{})
}

// What a query on the page may come to: more is for the command line.
const (
	maxRows  = 5000
	sqlTime  = 20 * time.Second
	sqlBytes = 8 << 20
)

func (s *Server) sql(_ http.ResponseWriter, r *http.Request) (any, error) {
	var in struct {
		Query string `json:"query"`
	}
	if err := readJSON(r, &in); err != nil {
		return nil, err
	}
	began := time.Now()
	rows, err := s.app.Query(r.Context(), in.Query, app.Query{Rows: maxRows, Time: sqlTime, Bytes: sqlBytes})
	if err != nil {
		return nil, err
	}
	return map[string]any{"columns": rows.Columns, "rows": rows.Rows.Rows, "truncated": rows.Truncated,
		"seconds": time.Since(began).Seconds()}, nil
}
