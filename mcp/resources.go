package mcp

import (
	"bytes"
	"context"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"conclave/app"
)

// The addresses of resources.
const (
	questURI        = "conclave://quest"
	conversationURI = "conclave://conversation/"
	runURI          = "conclave://run/"
	markdown        = "text/markdown"
)

func (s *Server) addResources() {
	s.sdk.AddResource(&sdk.Resource{
		URI: questURI, Name: "quest", Title: "The quest", MIMEType: markdown,
		Description: "What the quest is, its success criteria and its log. quest_status lists its conversations.",
	}, s.read(func(ctx context.Context, a *app.App, _ string) ([]byte, error) { return a.QuestText(ctx, "") }))
	s.sdk.AddResourceTemplate(&sdk.ResourceTemplate{
		URITemplate: conversationURI + "{name}", Name: "conversation", Title: "A conversation", MIMEType: markdown,
		Description: "A conversation of the party by the name of its file. Those with evaluators are not here.",
	}, s.read(func(ctx context.Context, a *app.App, uri string) ([]byte, error) {
		return a.QuestText(ctx, strings.TrimPrefix(uri, conversationURI))
	}))
	s.sdk.AddResourceTemplate(&sdk.ResourceTemplate{
		URITemplate: runURI + "{id}", Name: "run", Title: "A run", MIMEType: markdown,
		Description: "What was said in a run of this workspace, by its id; secrets are taken out. Runs of evaluators, " +
			"gates and tables are not here.",
	}, s.read(func(ctx context.Context, a *app.App, uri string) ([]byte, error) {
		var b bytes.Buffer
		_, err := a.Export(ctx, app.Export{Format: "md"}, []string{strings.TrimPrefix(uri, runURI)}, &b)
		return b.Bytes(), err
	}))
}

// maxResource bounds what is sent of a resource.
const maxResource = 2 << 20

// read makes a verb the handler of a resource.
func (s *Server) read(verb func(context.Context, *app.App, string) ([]byte, error)) sdk.ResourceHandler {
	return func(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		leave, err := s.take(ctx, false, nil)
		if err != nil {
			return nil, err
		}
		defer leave()
		uri := req.Params.URI
		data, err := verb(ctx, s.app.ForCall("", nil), uri)
		switch {
		case err != nil && app.KindOf(err) != app.Environment:
			return nil, sdk.ResourceNotFoundError(uri)
		case err != nil:
			return nil, err
		}
		text := string(data)
		if len(text) > maxResource {
			text = strings.ToValidUTF8(text[:maxResource], "") + "\n\n(cut here: it is longer)\n"
		}
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: markdown, Text: text}}}, nil
	}
}
