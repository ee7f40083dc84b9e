package plant

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
)

// Innocents returns two hundred and more texts that look like secrets and are
// none. Each must come through word for word.
func Innocents(seed uint64) []string {
	s := source{rand.New(rand.NewPCG(seed, 200))}
	list := strings.Split(strings.TrimSpace(fixed), "\n")
	for range 10 {
		uuid := s.uuid()
		list = append(list,
			uuid,
			`{"sessionId":"`+uuid+`"}`,
			`"uuid": "`+s.uuid()+`", "parentUuid": "`+s.uuid()+`"`,
			"commit "+s.pick(40, hexes),
			"index "+s.pick(7, hexes)+".."+s.pick(7, hexes)+" 100644",
			"sha256:"+s.pick(64, hexes),
			`{"head":"`+s.pick(64, hexes)+`","frames":12}`,
			`"integrity": "sha512-`+s.pick(86, all)+`=="`,
			"h1:"+s.pick(43, all)+"=",
			"toolu_01"+s.pick(22, all),
			"msg_01"+s.pick(22, all),
			"req_011"+s.pick(21, all),
			"call_"+s.pick(24, all),
			`"signature":"`+base64.StdEncoding.EncodeToString([]byte(s.pick(180, all)))+`"`,
			"data:image/png;base64,iVBORw0KGgo"+s.pick(400, all+"+/")+"=",
			"#"+s.pick(6, hexes),
			"etag: \""+s.pick(32, hexes)+"\"",
			"pk"+"_live_"+s.pick(24, all), // publishable, as the name says
		)
	}
	return list
}

func (s source) uuid() string {
	h := s.pick(32, hexes)
	return fmt.Sprintf("%s-%s-4%s-8%s-%s", h[:8], h[8:12], h[13:16], h[17:20], h[20:])
}

// fixed are look-alikes that need no chance.
const fixed = `
export ANTHROPIC_API_KEY=your-key-here
OPENAI_API_KEY=sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
api_key: <YOUR_API_KEY>
token: ${GITHUB_TOKEN}
token: {{ secrets.NPM_TOKEN }}
password: $DB_PASSWORD
password = os.environ["DB_PASSWORD"]
password: required
password: "must be at least 8 characters"
const token = await getToken()
token := strings.TrimSpace(line)
key = cache_key_for(user)
for key, value := range settings {
"input_tokens": 1234, "output_tokens": 987654321
"max_tokens": 200000
"tokenUsage": {"total": 3150}
"cache_creation_input_tokens": 12345678
"prompt_cache_key": "01a1dc90-3544-7ed0-b716-d3e76e7c6d01"
"next_page_token": "CAUQAAYgASgB7xQ2mZ9"
"key_env": "ANTHROPIC_API_KEY"
"apiKeySource": "none"
"token_type": "Bearer"
Authorization: Bearer <token>
Authorization: Bearer $TOKEN
Authorization: Basic <credentials>
the basic idea: authorization is hard
a bearer of good news arrived yesterday
postgres://user:password@localhost:5432/db
postgres://user:pass@localhost/db
redis://localhost:6379/0
https://example.com/a/b?c=d
https://user@example.com/repo.git
git@github.com:owner/name.git
sk-learn and disk-usage and task-runner-with-a-long-name
risk-assessment-for-the-quarter
ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
AKIAIOSFODNN7EXAMPLE
-----BEGIN CERTIFICATE-----
-----BEGIN PUBLIC KEY-----
-----BEGIN RSA PRIVATE KEY----- ... -----END RSA PRIVATE KEY-----
primary_key: id
public_key: age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p
"keyboard": "qwerty-uiop-1234567890"
"monkey": "Abcdefgh1234567890XyZwv"
hotkey: Ctrl+Shift+F12
"secretary": "Ada Lovelace 1815"
passing tests: 12345
bypass: 0x1F2E3D4C5B6A7988
compass=N45E
"author": "Ada <ada@example.org>"
"authority": "https://login.example.org/4f2a"
20260218T143200.000Z-1f0c9a3b5d7e
rgb(18, 52, 86) #123456 #abcdef
eyJhbGciOiJub25lIn0 is a header alone
AIza is how they begin
xoxb- is how theirs begin
SK123
v1.2.3-0.20260218143200-abcdef123456
github.com/dbos-inc/dbos-transact-golang v1.2.0 h1:abc
2026-02-18T14:32:00.123456+00:00
0123456789abcdef0123456789abcdef
token: string
secret: boolean
"password": null
"token": true
"secret": ""
passwordHash: argon2id
claude-sonnet-4-5-20250929
gpt-4o-mini-2024-07-18
/home/ada/.config/secrets/token.json
secret_name: projects/p/secrets/s
see docs/secret-management.md#token-rotation-2
MAX_TOKEN_LENGTH_PER_REQUEST=4096
TOKEN_FILE=/run/secrets/token
--token-file /run/secrets/api2
curl -u user:password https://example.com
curl -u $USER:$TOKEN https://example.com
curl -u ada https://example.com
mysql -u root -p main
mysql -uroot -ppassword main
mkdir -p build/testdata/fixtures9
docker run -p 8080:80 image
machine learning with a login and a password that nobody knows
"auth": "none"
{"auth":"aGVsbG8gd29ybGQ="}
echo aGVsbG8gd29ybGQsIHRoaXMgaXMgbm8gc2VjcmV0 | base64 -d
MTIzNDU2Nzg5MDEyMzQ1Njc4.short.tail
"etc/passwd": "guest:x:1000:1000:guest:/home/guest:/bin/sh"
`
