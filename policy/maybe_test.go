package policy

import "testing"

// What a bundle leaves where it is: by name alone, wherever it stands.
func TestMayBeCredential(t *testing.T) {
	for _, name := range []string{
		".env", ".env.local", ".netrc", "_netrc", ".npmrc", ".pypirc", ".pgpass", ".htpasswd", ".git-credentials",
		"credentials", "credentials.json", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", ".dockercfg", ".dockerconfigjson",
		"auth.json", ".credentials.json", "server.pem", "server.key", "a.p12", "a.pfx", "a.jks", "a.keystore", "a.kdbx",
		"a.ppk", "a.agekey", ".ssh/config", "ID_RSA", "server.key.bak",
	} {
		for _, dir := range []string{"", "deploy/", ".claude/", "campaigns/", ".campaign/"} {
			if !MayBeCredential(dir + name) {
				t.Errorf("%s is none", dir+name)
			}
		}
	}
	for _, name := range []string{".env.example", ".env.sample", "main.go", "README.md", ".claude/settings.json", "id_rsa_test.go", "docs/keys.md"} {
		if MayBeCredential(name) {
			t.Errorf("%s is one", name)
		}
	}
}
