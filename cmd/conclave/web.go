package main

import (
	"github.com/spf13/cobra"

	"conclave/web"
)

func newWebCommand(env *environment) *cobra.Command {
	var o web.Options
	var quiet bool
	cmd := &cobra.Command{
		Use:   "web",
		Short: "Serve this workspace as a page to your browser",
		Long: `Web serves a page out of this program: everything that runs or waits for you, every
recorded run, who was allowed to know what, the quest, the tables and what they
cost; and what you do there is done as by the commands. It listens on this machine
alone. The link that it prints lets one browser in, once, within ten minutes; where
the page is served already, you get a new link to it. Other terminals work as ever.
It ends with Ctrl-C, and settles what runs.
With --listen others reach it: only with TLS, or behind a proxy that does TLS, and
under the names that you give. Whoever has a link can then do what you can.`,
		Example: `  conclave web
  conclave web --no-open --addr 127.0.0.1:8080
  conclave web --read-only
  conclave web --listen :8443 --host conclave.example:8443 --tls-cert cert.pem --tls-key key.pem`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.Listen != "" && o.Addr != "" {
				return usageError("--addr is of this machine, and --listen of others: give one of them")
			}
			if o.Listen == "" && (len(o.Hosts) > 0 || o.Cert != "" || o.Key != "" || o.Proxy) {
				return usageError("--host, --tls-cert, --tls-key and --behind-proxy go with --listen")
			}
			return env.serveWeb(cmd, o, !quiet)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Addr, "addr", "",
		"listen at `ADDR` of this machine, such as 127.0.0.1:7777 (default a free port, another one each time)")
	f.BoolVar(&quiet, "no-open", false, "do not open a browser")
	f.BoolVar(&o.ReadOnly, "read-only", false, "let the page only show")
	f.StringVar(&o.Listen, "listen", "", "let others in, at `ADDR`")
	f.StringArrayVar(&o.Hosts, "host", nil,
		"the `NAME`, with the port if it has one, by which others call it (may be given again)")
	f.StringVar(&o.Cert, "tls-cert", "", "`FILE` with the certificate for --listen")
	f.StringVar(&o.Key, "tls-key", "", "`FILE` with its key")
	f.BoolVar(&o.Proxy, "behind-proxy", false, "somebody else does TLS for --listen")
	return cmd
}

// serveWeb serves the page, or says where it is served already.
func (env *environment) serveWeb(cmd *cobra.Command, o web.Options, open bool) error {
	ctx, a := cmd.Context(), env.app()
	s, err := web.New(a, o)
	if err != nil {
		return err
	}
	tell := func(link string) {
		env.Stdout.Printf("%s\n", link)
		_ = env.Stdout.Flush() // who started it waits for this
		if open && env.Stdout.Terminal() {
			a.Browse(link)
		}
	}
	elsewhere, err := a.HoldPage(ctx, s.Link, func(root string) error {
		return s.Serve(ctx, root, func(link string) {
			for _, line := range s.Opens() {
				env.Stderr.Printf("%s\n", line)
			}
			tell(link)
		})
	})
	if err == nil && elsewhere != "" {
		if idleFlags(cmd) {
			env.Stderr.Printf("the page is served already, as it was begun: for another way end that process first\n")
		}
		tell(elsewhere)
	}
	return err
}

// idleFlags says whether flags are given that say how the page is to be served: any
// but those by which it is found and opened.
func idleFlags(cmd *cobra.Command) bool {
	n := cmd.Flags().NFlag()
	for _, name := range []string{"no-open", "root"} {
		if cmd.Flags().Changed(name) {
			n--
		}
	}
	return n > 0
}
