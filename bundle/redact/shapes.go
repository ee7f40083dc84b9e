package redact

import "strings"

// shape is a token that begins with a prefix of its own.
type shape struct {
	kind   string
	prefix string
	body   *class
	min    int  // shortest body
	max    int  // longest body, when a longer run cannot be this token; 0: any
	edge   bool // a letter or digit before it, or a longer run, makes it something else
}

// class is a set of bytes.
type class [256]bool

func classOf(ranges string) *class {
	var c class
	for i := 0; i < len(ranges); i++ {
		if i+2 < len(ranges) && ranges[i+1] == '-' {
			for b := int(ranges[i]); b <= int(ranges[i+2]); b++ {
				c[b] = true
			}
			i += 2
			continue
		}
		c[ranges[i]] = true
	}
	return &c
}

// The alphabets of tokens. None is changed after it was made.
var (
	alnum  = classOf("A-Za-z0-9")
	word   = classOf("A-Za-z0-9_")
	url64  = classOf("A-Za-z0-9_-")
	dotted = classOf("A-Za-z0-9_.-")
	base64 = classOf("A-Za-z0-9+/=_-")
	lowHex = classOf("0-9a-f")
	hexa   = classOf("0-9a-fA-F")
	upper  = classOf("A-Z0-9")
)

// shapes is the table of tokens that say by themselves what they are.
func shapes() []shape {
	list := []shape{
		{"anthropic-key", "sk-ant-", url64, 20, 0, false},
		{"openai-key", "sk-proj-", url64, 20, 0, false},
		{"openai-key", "sk-svcacct-", url64, 20, 0, false},
		{"openai-key", "sk-admin-", url64, 20, 0, false},
		{"openai-key", "sk-None-", url64, 20, 0, false},
		{"openrouter-key", "sk-or-v1-", lowHex, 32, 0, false},
		{"openai-key", "sk-", alnum, 20, 0, true},
		{"openai-key", "sess-", alnum, 40, 40, true},
		{"github-token", "github_pat_", word, 22, 0, false},
		{"aws-key", "AKIA", upper, 16, 16, true},
		{"aws-key", "ASIA", upper, 16, 16, true},
		{"aws-key", "ABIA", upper, 16, 16, true},
		{"aws-key", "ABSK", base64, 60, 0, true},
		{"google-key", "AIza", url64, 35, 35, true},
		{"google-key", "GOCSPX-", url64, 28, 0, true},
		{"google-token", "ya29.", dotted, 20, 0, true},
		{"slack-token", "xapp-", url64, 20, 0, true},
		{"slack-webhook", "hooks.slack.com/services/", classOf("A-Za-z0-9/"), 30, 0, false},
		{"slack-webhook", "hooks.slack.com/workflows/", classOf("A-Za-z0-9/"), 30, 0, false},
		{"discord-webhook", "discord.com/api/webhooks/", classOf("A-Za-z0-9/_-"), 60, 0, false},
		{"discord-webhook", "discordapp.com/api/webhooks/", classOf("A-Za-z0-9/_-"), 60, 0, false},
		{"npm-token", "npm_", alnum, 36, 0, true},
		{"pypi-token", "pypi-AgE", url64, 40, 0, false},
		{"hugging-face-token", "hf_", alnum, 30, 0, true},
		{"hugging-face-token", "api_org_", alnum, 30, 0, true},
		{"twilio-key", "SK", lowHex, 32, 32, true},
		{"sendgrid-key", "SG.", dotted, 60, 0, true},
		{"databricks-token", "dapi", lowHex, 32, 32, true},
		{"vault-token", "hvs.", url64, 24, 0, true},
		{"vault-token", "hvb.", url64, 24, 0, true},
		{"mailgun-key", "key-", lowHex, 32, 32, true},
		{"linear-key", "lin_api_", alnum, 32, 0, true},
		{"notion-token", "secret_", alnum, 43, 43, true},
		{"notion-token", "ntn_", alnum, 40, 0, true},
		{"figma-token", "figd_", url64, 30, 0, true},
		{"postman-key", "PMAK-", url64, 40, 0, true},
		{"newrelic-key", "NRAK-", upper, 27, 0, true},
		{"grafana-token", "glsa_", word, 32, 0, true},
		{"grafana-token", "glc_", base64, 32, 0, true},
		{"sentry-token", "sntrys_", base64, 32, 0, true},
		{"sentry-token", "sntryu_", lowHex, 32, 0, true},
		{"supabase-token", "sbp_", lowHex, 40, 0, true},
		{"supabase-key", "sb_secret_", url64, 20, 0, true},
		{"planetscale-token", "pscale_tkn_", dotted, 32, 0, true},
		{"planetscale-token", "pscale_pw_", dotted, 32, 0, true},
		{"doppler-token", "dp.pt.", alnum, 40, 0, true},
		{"doppler-token", "dp.st.", dotted, 40, 0, true},
		{"docker-token", "dckr_pat_", url64, 20, 0, true},
		{"atlassian-token", "ATATT3", base64, 60, 0, true},
		{"atlassian-token", "ATCTT3", base64, 60, 0, true},
		{"bitbucket-token", "ATBB", alnum, 32, 0, true},
		{"groq-key", "gsk_", alnum, 32, 0, true},
		{"xai-key", "xai-", alnum, 40, 0, true},
		{"perplexity-key", "pplx-", alnum, 32, 0, true},
		{"replicate-token", "r8_", alnum, 32, 0, true},
		{"fireworks-key", "fw_", alnum, 22, 24, true},
		{"langsmith-key", "lsv2_pt_", word, 32, 0, true},
		{"langsmith-key", "lsv2_sk_", word, 32, 0, true},
		{"pinecone-key", "pcsk_", word, 32, 0, true},
		{"render-key", "rnd_", alnum, 24, 0, true},
		{"heroku-key", "HRKU-", url64, 32, 0, true},
		{"square-token", "sq0atp-", url64, 22, 0, true},
		{"square-token", "sq0csp-", url64, 40, 0, true},
		{"age-key", "AGE-SECRET-KEY-1", upper, 50, 0, false},
		{"rubygems-key", "rubygems_", lowHex, 40, 0, true},
		{"netlify-token", "nfp_", alnum, 32, 0, true},
		{"pulumi-token", "pul-", lowHex, 40, 0, true},
		{"tailscale-key", "tskey-", url64, 20, 0, true},
		{"onepassword-token", "ops_eyJ", base64, 100, 0, true},
		{"terraform-token", ".atlasv1.", url64, 60, 0, false},
		{"sourcegraph-token", "sgp_", word, 40, 0, true},
		{"buildkite-token", "bkua_", lowHex, 40, 0, true},
		{"circleci-token", "CCIPAT_", word, 40, 0, true},
		{"contentful-token", "CFPAT-", url64, 40, 0, true},
		{"easypost-key", "EZAK", alnum, 54, 54, true},
		{"flutterwave-key", "FLWSECK-", url64, 32, 0, true},
		{"dynatrace-token", "dt0c01.", dotted, 60, 0, true},
		{"stripe-secret", "whsec_", base64, 24, 0, true},
		{"shippo-token", "shippo_live_", lowHex, 40, 0, true},
	}
	for _, p := range strings.Fields("ghp_ gho_ ghu_ ghs_ ghr_") {
		list = append(list, shape{"github-token", p, alnum, 36, 0, false})
	}
	for _, p := range strings.Fields("glpat- gldt- glrt- glcbt- glptt- glft- glsoat- glimt- glagent- gloas- glffct-") {
		list = append(list, shape{"gitlab-token", p, dotted, 20, 0, true})
	}
	for _, p := range strings.Fields("xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs- xoxe.xoxp- xoxe.xoxb-") {
		list = append(list, shape{"slack-token", p, classOf("A-Za-z0-9%/+=_-"), 20, 0, true})
	}
	for _, p := range strings.Fields("sk_live_ sk_test_ rk_live_ rk_test_") {
		list = append(list, shape{"stripe-key", p, alnum, 16, 0, true})
	}
	for _, p := range strings.Fields("dop_v1_ doo_v1_ dor_v1_") {
		list = append(list, shape{"digitalocean-token", p, lowHex, 64, 0, true})
	}
	for _, p := range strings.Fields("shpat_ shpss_ shpca_ shppa_") {
		list = append(list, shape{"shopify-token", p, hexa, 32, 0, true})
	}
	return list
}

func shapeRules() []rule {
	var rules []rule
	for _, sh := range shapes() {
		rules = append(rules, rule{sh.prefix, true, sh.match})
	}
	return rules
}

func (sh shape) match(s *scan, at, after int) (span, bool) {
	if sh.edge && !border(s.src, at) {
		return span{}, false
	}
	end := s.run(after, sh.body)
	body := s.src[after:end]
	if sh.max > 0 && len(body) > sh.max {
		return span{}, false
	}
	if sh.edge && end < len(s.src) && base64[s.src[end]] && sh.max > 0 {
		return span{}, false
	}
	for len(body) > 0 && (body[len(body)-1] == '.' || body[len(body)-1] == '-' || body[len(body)-1] == '/') {
		body, end = body[:len(body)-1], end-1 // the end of a sentence
	}
	if len(body) < sh.min || !varied(body) {
		return span{}, false
	}
	return span{at, end, sh.kind, rankShape}, true
}

// run is where the bytes of c that begin at i end.
func run(src []byte, i int, c *class) int {
	for i < len(src) && c[src[i]] {
		i++
	}
	return i
}

// stretch is a run that was measured.
type stretch struct {
	class      *class
	start, end int
}

// run is the function run with a memory: a text that repeats an anchor within
// one long run would else be measured from each of them to its end.
func (s *scan) run(i int, c *class) int {
	const worth = 256
	for k := range s.runs {
		if m := &s.runs[k]; m.class == c && m.start <= i && i < m.end {
			return m.end
		}
	}
	end := run(s.src, i, c)
	if end-i > worth {
		s.runs[s.oldest] = stretch{c, i, end}
		s.oldest = (s.oldest + 1) % len(s.runs)
	}
	return end
}

// runBack is where the bytes of c that end before i begin, at most limit back.
func runBack(src []byte, i, limit int, c *class) int {
	start := i
	for i > 0 && start-i < limit && c[src[i-1]] {
		i--
	}
	return i
}

// border says whether a word can begin at i: nothing that belongs to a word
// stands before it. The letters of an escape sequence (\n, \u003d), of a
// percent-encoding (%3D) and of a colour (ESC [0m) do not belong to a word.
func border(src []byte, i int) bool {
	if i == 0 || !word[src[i-1]] {
		return true
	}
	p := i - 1
	if p >= 1 && src[p-1] == '\\' && strings.IndexByte("nrtbf", src[p]) >= 0 {
		return true
	}
	if p >= 2 && src[p-2] == '%' && hexa[src[p]] && hexa[src[p-1]] {
		return true
	}
	if p >= 5 && src[p-5] == '\\' && src[p-4] == 'u' && hexa[src[p]] && hexa[src[p-1]] && hexa[src[p-2]] && hexa[src[p-3]] {
		return true
	}
	if src[p] == 'm' {
		j := p
		for j > 0 && p-j < 12 && (isDigit(src[j-1]) || src[j-1] == ';') {
			j--
		}
		return j > 0 && src[j-1] == '['
	}
	return false
}
