package policy

import (
	"path"
	"slices"
	"strings"
)

// credentialNames are keys and logins by their name alone, files and
// directories, wherever they stand.
var credentialNames = []string{
	".netrc", "_netrc", ".git-credentials", ".ssh", ".gnupg", "private-keys-v1.d", "secring.gpg", ".password-store",
	".aws", ".azure", ".gcloud", ".s3cfg", ".boto", ".passwd-s3fs", "rclone.conf", ".databrickscfg", ".snowsql", ".kaggle", "kaggle.json",
	"application_default_credentials.json", "accesstokens.json", "msal_token_cache.json", ".clasprc.json", "rootkey.csv",
	"credentials.tfrc.json", ".pgpass", "pgpass.conf", ".mylogin.cnf", ".htpasswd", ".vault-token", ".erlang.cookie", "master.key",
	".msmtprc", ".fetchmailrc", ".ftpconfig", ".dockercfg", ".dockerconfigjson", "wallet.dat", "settings-security.xml", ".sentryclirc",
}

// credentialsBelow are names that are credentials in a directory of a name.
var credentialsBelow = map[string][]string{
	".kube":   {"config"},
	".gem":    {"credentials"},
	".cargo":  {"credentials", "credentials.toml"},
	".config": {"gcloud", "gh", "hub", "glab-cli", "doctl", "rclone", "op", "sops", "hcloud"},
	".pulumi": {"credentials.json"}, ".huggingface": {"token"}, ".aliyun": {"config.json"}, ".oci": {"config"}, ".fly": {"config.yml"},
	".sops":    {"keys.txt", "key.txt"},
	"age":      {"keys.txt", "key.txt"},
	".m2":      {"settings-security.xml"},
	".docker":  {"contexts"},
	".bundle":  {"credentials"},
	".dbt":     {"profiles.yml"},
	".dropbox": {"host.db"},
}

// keyStores are file endings that hold keys, and nothing one needs to read.
// The state of Terraform is among them because it repeats every secret it was
// given in clear text, as its documentation says.
var keyStores = []string{
	".p12", ".pfx", ".jks", ".jceks", ".bks", ".keystore", ".keytab", ".kdbx", ".kdb", ".ppk", ".pk8", ".agekey", ".keychain", ".keychain-db",
	".tfstate", ".publishsettings",
}

// sourceFiles are endings of programs: id_unix.go, id_rsa_test.go.
var sourceFiles = []string{
	".go", ".py", ".rs", ".c", ".h", ".cc", ".cpp", ".hpp", ".java", ".kt", ".js", ".mjs", ".cjs", ".ts", ".tsx", ".jsx", ".rb", ".php", ".cs",
	".swift", ".scala", ".ex", ".exs", ".erl", ".hs", ".ml", ".lua", ".pl", ".sh", ".sql", ".html", ".css",
}

// isEnvironment tells .env, .env.local and .envrc, and no example of one.
func isEnvironment(name string) bool {
	return strings.HasPrefix(name, ".env") && !isExample(name)
}

func isExample(name string) bool {
	return slices.Contains([]string{".example", ".sample", ".template"}, path.Ext(name))
}

// isCredential reports whether a plain name in a directory of the plain name
// above is a key or a login that guarded does not know by the name alone.
func isCredential(above, name string, file bool, open opener) bool {
	if slices.Contains(credentialsBelow[above], withoutCopy(name)) {
		return true
	}
	if !file || isExample(name) {
		return false
	}
	if slices.Contains(keyStores, path.Ext(withoutCopy(name))) || isPasswordFile(name) || isKeyName(name) {
		return true
	}
	holds := content(above, withoutCopy(name))
	return holds != nil && read(open, holds)
}

// withoutCopy is the name that a copy was made of, by a person or by a program:
// server.key.bak, key.pem~, #.env#, terraform.tfstate.1699999999.backup.
func withoutCopy(name string) string {
	if inner := strings.TrimPrefix(strings.TrimPrefix(name, "#"), ".#"); inner != name {
		name = strings.TrimSuffix(inner, "#")
	}
	for {
		short := strings.TrimRight(name, "~")
		for _, end := range []string{".bak", ".backup", ".old", ".orig", ".save", ".swp", ".copy", " copy", " (copy)"} {
			short = strings.TrimSuffix(short, end)
		}
		if end := path.Ext(short); len(end) > 1 && strings.Trim(end[1:], "0123456789") == "" {
			short = strings.TrimSuffix(short, end)
		}
		if short == name || short == "" {
			return name
		}
		name = short
	}
}

// keyNames are what ssh-keygen calls private keys.
var keyNames = []string{"id_rsa", "id_dsa", "id_ecdsa_sk", "id_ecdsa", "id_ed25519_sk", "id_ed25519", "id_xmss"}

// isKeyName tells id_rsa, id_rsa.bak and id_ed25519-cert; id_rsa.pub is public,
// id_rsa_test.go a program, and about id_rsa.txt its content decides.
func isKeyName(name string) bool {
	rest, ok := afterKeyName(name)
	if !ok {
		return strings.HasPrefix(name, "ssh_host_") && strings.HasSuffix(name, "_key")
	}
	end := path.Ext(rest)
	return end != ".pub" && !slices.Contains(sourceFiles, end) && !slices.Contains(texts, end)
}

func afterKeyName(name string) (string, bool) {
	for _, k := range keyNames {
		if rest, ok := strings.CutPrefix(name, k); ok && (rest == "" || strings.ContainsRune("._-~ 0123456789", rune(rest[0]))) {
			return rest, true
		}
	}
	return "", false
}

// joined takes out what people put between the words of a name.
var joined = strings.NewReplacer("-", "", "_", "", " ", "")

// isPasswordFile tells the files that Ansible reads its vault's password from.
func isPasswordFile(name string) bool {
	if !strings.Contains(name, "vault") {
		return false
	}
	name = joined.Replace(strings.TrimSuffix(strings.TrimPrefix(name, "."), ".txt"))
	name = strings.TrimSuffix(strings.TrimPrefix(name, "ansible"), "file")
	return slices.Contains([]string{"vaultpass", "vaultpassword", "vaultpasswd"}, name)
}
