package policy

import (
	"bytes"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"
)

// maxContent is how much of a file is read to tell what it is. What is larger
// and could be a credential is taken for one.
const maxContent = 4 << 20

// read asks a question about a file's content. What cannot be read, or is too
// large, is withheld.
func read(open opener, holds func([]byte) bool) bool {
	if open == nil {
		return true
	}
	f, err := open()
	if err != nil {
		return true
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxContent+1))
	if err != nil {
		return true
	}
	if bytes.HasPrefix(data, []byte("PK\x03\x04")) {
		return false // a Keynote presentation is called .key too
	}
	return len(data) > maxContent || holds(data)
}

// texts are endings of which anything may be a key.
var texts = []string{".txt", ".md", ".json", ".yml", ".yaml", ".toml", ".ini", ".conf", ".cfg", ".xml", ".csv", ".properties"}

// content is the question that decides about a file of this name in a
// directory of that name; nil if the name is no reason to ask.
func content(above, name string) func([]byte) bool {
	end := path.Ext(name)
	switch name {
	case ".npmrc", ".yarnrc", ".yarnrc.yml", ".pypirc", ".my.cnf", "my.cnf", "pip.conf", "pip.ini", ".condarc", ".wgetrc",
		".curlrc", ".terraformrc",
		"terraform.rc", "nuget.config", "gradle.properties", "sftp.json", "sftp-config.json", ".flaskenv", ".gitconfig",
		"auth.json", "credentials",
		"credentials.toml", "credentials.xml", "credentials.yml", "credentials.yaml", "credentials.ini":
		return assigns
	case "admin.conf", "kubelet.conf", "scheduler.conf":
		return isKubeConfig
	case "config.json":
		return when(above == ".docker", isDockerLogin)
	case "config":
		return when(above == ".bundle", assigns)
	case "settings.xml":
		return when(above == ".m2", assigns)
	}
	switch {
	case slices.Contains([]string{".pem", ".key", ".p8", ".der", ".asc", ".gpg", ".pgp", ".ovpn", ".age"}, end), keyWords(name):
		return isPrivateKey
	case above == ".kube":
		return isKubeConfig
	case strings.Contains(name, "kubeconfig"):
		return when(!slices.Contains(sourceFiles, end), isKubeConfig)
	case end == ".json" && accountName(name):
		return isAccount
	case end == ".env", end == ".tfvars", strings.HasSuffix(name, ".tfvars.json"):
		return assigns
	case strings.HasSuffix(name, "accesskeys.csv"):
		return func([]byte) bool { return true }
	case strings.TrimSuffix(name, end) == "secrets" && slices.Contains(texts, end):
		return assigns
	}
	return nil
}

func when(is bool, holds func([]byte) bool) func([]byte) bool {
	if is {
		return holds
	}
	return nil
}

// keyWords tells names that people give to private keys: github_rsa,
// deploy_key, keys.txt, id_rsa.txt.
func keyWords(name string) bool {
	end := path.Ext(name)
	if _, is := afterKeyName(name); is {
		return slices.Contains(texts, end)
	}
	stem := strings.TrimSuffix(name, end)
	switch {
	case end == ".txt":
		return slices.Contains([]string{"key", "keys", "age-key", "age-keys", "private", "private-key", "private_key", "privatekey"}, stem)
	case end != "":
		return false
	}
	for _, tail := range []string{"_rsa", "_dsa", "_ecdsa", "_ed25519", "-rsa", "-ed25519", "_key", "-key"} {
		if strings.HasSuffix(name, tail) {
			return true
		}
	}
	return name == "identity" || name == "privatekey" || strings.HasPrefix(name, "wg") && end == ".conf"
}

var (
	privateKey = regexp.MustCompile(`-----BEGIN [A-Z0-9 ]*PRIVATE KEY( BLOCK)?-----|AGE-SECRET-KEY-1[0-9A-Za-z]|PuTTY-User-Key-File-|(?m)^\s*PrivateKey\s*=\s*\S`)
	derKey     = regexp.MustCompile(`(?s)\A\x30(?:[\x00-\x7f]|\x81.|\x82..|\x83...)\x02\x01[\x00\x01]`)
	bareKey    = regexp.MustCompile(`\A[0-9a-fA-F]{32,128}\s*\z`) // of Rails
)

// isPrivateKey tells a key that must not be shown from a certificate or a
// public key.
func isPrivateKey(data []byte) bool {
	return privateKey.Match(data) || derKey.Match(data) || bareKey.Match(data)
}

var kubeSecret = regexp.MustCompile(`(?m)^\s*-?\s*"?(client-key-data|client-key|token|password|id-token|refresh-token)"?\s*:\s*"?[^\s"]`)

func isKubeConfig(data []byte) bool { return kubeSecret.Match(data) }

var dockerSecret = regexp.MustCompile(`"(auth|identitytoken|registrytoken|password)"\s*:\s*"[^"]`)

func isDockerLogin(data []byte) bool { return dockerSecret.Match(data) }

// gcpKey is what Google calls a key that it lets one download.
var gcpKey = regexp.MustCompile(`-[0-9a-f]{12}\.json\z`)

func accountName(name string) bool {
	bare := joined.Replace(name)
	for _, part := range []string{"serviceaccount", "credential", "adminsdk", "keyfile", "key.json", "clientsecret", "gcp",
		"gcloud", "tokens.json", "token.json"} {
		if strings.Contains(bare, part) {
			return true
		}
	}
	return gcpKey.MatchString(name)
}

var accountSecret = regexp.MustCompile(`"(private_key|client_secret|refresh_token|access_token|secret_access_key|secretAccessKey|privateKey|clientSecret)"\s*:\s*"[^"]{8}`)

func isAccount(data []byte) bool { return accountSecret.Match(data) || isPrivateKey(data) }

var (
	// assignment finds what is said to be a secret, in any of the common forms.
	assignment = regexp.MustCompile(`(?i)(?:secret|passwd|password|passphrase|[-_]pass|\bpass|\bpwd|[-_]pwd|token|api[-_]?key|access[-_]?key|private[-_]?key|auth|authident|dsn|credential)s?` +
		`(?:[-_.]?(?:key|token|value|id|base|hash|string|url|github|oauth))*["']?\s*(?:=>|[:=]|value=|>)\s*["']?([^\s"'<]{4,})`)
	// inAddress finds a password in an address.
	inAddress = regexp.MustCompile(`://[^/\s:@"']*:([^/\s@"']{3,})@`)
	stand     = regexp.MustCompile(`(?i)\A(\$|\{\{|<|%|x{3,}|\*{3,}|\.\.\.|change|your|todo|fixme|example|placeholder|dummy|secret_?here|null|none|true|false|file:|env:)`)
)

// assigns reports whether a text gives a secret a value that does not merely
// stand for one: an example, a reference to the environment.
func assigns(data []byte) bool {
	for _, re := range []*regexp.Regexp{assignment, inAddress} {
		for _, m := range re.FindAllSubmatch(data, -1) {
			if !stand.Match(m[1]) {
				return true
			}
		}
	}
	return isPrivateKey(data)
}
