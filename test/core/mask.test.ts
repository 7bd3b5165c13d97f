import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { mask, MASKED } from "../../src/core/mask.ts"

const PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA7bq\nq1Z+/x==\n-----END RSA PRIVATE KEY-----"
const JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
/** Made up here, in the shape of real ones, so that no scanner of this repository takes one for real. */
const after = (prefix: string, length: number): string => prefix + "a1B2c3D4e5F6g7H8i9J0".repeat(10).slice(0, length)

const NONE = { count: 0, loose: 0 }

/** What is written, and what must not be seen of it. */
const secrets: [name: string, text: string, secret: string][] = [
  ["a Slack bot token", "use xoxb-1111-2222-abcdefgh now", "1111-2222"],
  ["a Slack app token", after("xapp-1-", 40), "a1B2c3"],
  ["a rotated Slack token", after("xoxe.xoxp-1-", 40), "a1B2c3"],
  ["a Slack webhook", "https://hooks.slack.com/services/T00/B00/a1B2c3D4e5F6", "a1B2c3"],
  ["a bearer header", "curl -H 'Authorization: Bearer abc.def-123' https://x", "abc.def-123"],
  ["a bearer header with a Slack token", "curl -H 'Authorization: Bearer xoxb-1111-2222-abc' https://x", "xoxb-1111"],
  ["a basic header", "Authorization: Basic dXNlcjpwYXNz", "dXNlcjpwYXNz"],
  ["a header without a scheme", '{"Authorization":"s3cr3tvalue"}', "s3cr3tvalue"],
  ["a header in JSON within JSON", String.raw`{"h":"{\"authorization\":\"Bearer zzz111\"}"}`, "zzz111"],
  ["a bearer value alone", "auth bearer Zx81kkQ2", "Zx81kkQ2"],
  ["an api key header", "X-Api-Key: 9f8e7d", "9f8e7d"],
  ["a GitLab header", "PRIVATE-TOKEN: abcabcabc1", "abcabcabc1"],
  ["a cookie", "Cookie: sid=1234abcd; theme=dark", "1234abcd"],
  ["a set cookie", '{"Set-Cookie":"sid=1234abcd; HttpOnly"}', "1234abcd"],
  ["a private key", `key:\n${PEM}\nafter`, "MIIEowIBAAKCAQEA7bq"],
  ["a private key in JSON", JSON.stringify({ key: PEM }), "MIIEowIBAAKCAQEA7bq"],
  ["a private key whose end is missing", JSON.stringify({ a: PEM.slice(0, 60) }), "MIIEowIBAAKCAQEA7bq"],
  ["an OpenSSH key", PEM.replaceAll("RSA", "OPENSSH"), "MIIEowIBAAKCAQEA7bq"],
  ["a PGP key", PEM.replaceAll("RSA PRIVATE KEY", "PGP PRIVATE KEY BLOCK"), "MIIEowIBAAKCAQEA7bq"],
  ["a password in a url", "postgres://u:p4ss@h/db", "p4ss"],
  ["a url with a password alone", "redis://:p4ss@h:6379/0", "p4ss"],
  ["a url whose password has an @", "amqp://u:p4@ss@h/", "p4@ss"],
  ["a url whose password has a slash", "https://u:p4/ss#1@h/", "p4/ss#1"],
  ["a url with a token for a user", after("https://", 30) + "@github.com/x.git", "a1B2c3"],
  ["an AWS key id", "AKIAIOSFODNN7EXAMPLE", "IOSFODNN"],
  ["an AWS secret", "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "wJalrXUtn"],
  ["a signed url", "https://b.s3.amazonaws.com/f?X-Amz-Signature=0123456789abcdef&x=1", "0123456789abcdef"],
  ["an Azure signature", "https://a.blob.core.windows.net/c?sv=2020&sig=abc%2Fdef12345%3D", "abc%2Fdef"],
  ["an Azure account key", "AccountName=a;AccountKey=abcdef0123456789==;", "abcdef0123456789"],
  ["a GitHub token", after("ghp_", 36), "a1B2c3"],
  ["a fine-grained GitHub token", after("github_pat_", 60), "a1B2c3"],
  ["a GitLab token", after("glpat-", 20), "a1B2c3"],
  ["a Google key", after("AIza", 35), "a1B2c3"],
  ["a Google access token", after("ya29.", 40), "a1B2c3"],
  ["an OpenAI key", after("sk-", 48), "a1B2c3"],
  ["an OpenAI project key", after("sk-proj-", 48), "a1B2c3"],
  ["an Anthropic key", after("sk-ant-api03-", 48), "a1B2c3"],
  ["a Stripe key", after("sk_live_", 24), "a1B2c3"],
  ["a Stripe webhook secret", after("whsec_", 24), "a1B2c3"],
  ["an npm token", after("npm_", 36), "a1B2c3"],
  ["a PyPI token", after("pypi-", 60), "a1B2c3"],
  ["a SendGrid key", after("SG.", 22) + after(".", 43), "a1B2c3"],
  ["a Vault token", after("hvs.", 30), "a1B2c3"],
  ["a web token", `sent ${JWT}.`, "eyJzdWIi"],
  ["password=", "PGPASSWORD=hunter2 psql", "hunter2"],
  ["password= in quotes", `DB_PASSWORD="correct horse" run`, "correct horse"],
  ["password: in YAML", "password: hunter2\nuser: x", "hunter2"],
  ["password in JSON", '{"user":"x","password":"hun ter,2"}', "hun ter,2"],
  ["password in JSON with an escaped quote", String.raw`{"password":"hun\"ter2"}`, "ter2"],
  ["password in JSON within JSON", JSON.stringify({ b: JSON.stringify({ password: "hun ter2", x: 1 }) }), "ter2"],
  ["password in JSON, three deep", JSON.stringify(JSON.stringify(JSON.stringify({ password: "hun ter2" }))), "ter2"],
  [
    "password in JSON with a deeper escaped quote",
    JSON.stringify({ b: JSON.stringify({ password: 'hun"ter2' }) }),
    "ter2",
  ],
  ["password in JSON that ends with a backslash", JSON.stringify({ password: "hunter2\\", x: 1 }), "hunter2"],
  ["a number as a password", '{"password":12345678}', "12345678"],
  ["token in JSON", '{"token": "abc"}', "abc"],
  ["camel case", '{"clientSecret":"abc-1","x":1}', "abc-1"],
  ["camel case with words before", '{"githubAccessToken":"abc-1"}', "abc-1"],
  ["snake case with words before", "my_service_api_key=abc-1", "abc-1"],
  ["a secret in a query", "https://h/p?access_token=abc1&x=2", "abc1"],
  ["a flag", "tool --password hunter2 --env x", "hunter2"],
  ["a flag with =", "tool --api-key=hunter2", "hunter2"],
  ["a flag in argv", '["tool","--token","hunter2"]', "hunter2"],
  ["a flag in argv within JSON", JSON.stringify({ a: JSON.stringify(["--token", "hunter2"]) }), "hunter2"],
  ["curl -u", "curl -u admin:hunter2 https://h", "hunter2"],
  ["curl -u in argv", '["curl","-u","admin:hunter2"]', "hunter2"],
  ["SQL", "ALTER USER x IDENTIFIED BY 'hunter2'", "hunter2"],
  ["sshpass", "sshpass -p hunter2 ssh h", "hunter2"],
  ["a name and its value in JSON", '{"name":"DB_PASSWORD","value":"hunter2"}', "hunter2"],
  [
    "a name and its value, spread over lines",
    JSON.stringify({ name: "API_KEY", value: "hunter 2" }, null, 2),
    "hunter 2",
  ],
  [
    "a name and its value in JSON within JSON",
    JSON.stringify({ b: '{"name":"API_KEY","value":"hunter2"}' }),
    "hunter2",
  ],
  ["a name and its value in YAML", "env:\n  - name: DB_PASSWORD\n    value: hunter2", "hunter2"],
  ["a name and its value in YAML, in quotes", `- name: "DB_PASSWORD"\n  value: 'hunter 2'`, "hunter 2"],
  ["docker login -p with blanks in quotes", 'docker login -p "hunter 2" r', "hunter 2"],
  ["a key and its value", '{"key":"password","value":"x1y2"}', "x1y2"],
  ["a key and its value, in capitals", '{"Key":"DbPassword","Value":"x1y2"}', "x1y2"],
  ["a list of passwords", '{"password":["x1y2"]}', "x1y2"],
  ["a longer list of passwords", '{"passwords":["abc","x1y2"]}', "x1y2"],
  ["a later one in a list", '{"token": [ "abc", "x1y2" ]}', "x1y2"],
  ["a list of passwords in JSON within JSON", JSON.stringify({ b: '{"password":["x1y2"]}' }), "x1y2"],
  ["mysql -p", "mysql -u root -pSecret1 db", "Secret1"],
  ["mysqldump -p in argv", '["mysqldump","-uroot","-pSecret1","db"]', "Secret1"],
  ["docker login -p", "docker login -u ana -p hunter2 registry.example.com", "hunter2"],
  ["docker login in argv", '["docker","login","-p","hunter2"]', "hunter2"],
  ["redis-cli -a", "redis-cli -h h -p 6379 -a hunter2 ping", "hunter2"],
  ["redis-cli -a in argv", '["redis-cli","-a","hunter2"]', "hunter2"],
  ["--password", "docker login --password hunter2", "hunter2"],
  ["--password=", "mysql --password=hunter2", "hunter2"],
  [
    "a Telegram bot's token in an address",
    "https://api.telegram.org/bot123456:AAa1B2c3D4e5F6g7H8i9J0a1B2c3D4e5F6g7H/getMe",
    "a1B2c3",
  ],
  ["a Telegram bot's token of ten digits", "/bot1234567890:AAa1B2c3D4e5F6g7H8i9J0a1B2c3D4e5F6g/", "a1B2c3"],
  ["a value that poses as a masked one", "password=[masked, 7 characters]hunter2", "hunter2"],
  ["a value that was not closed", 'password="hunter two', "hunter two"],
  ["an npmrc line", "//registry.example/:_authToken=0f1e2d3c-uuid", "0f1e2d3c"],
  ["a Discord webhook", `https://discord.com/api/webhooks/123456789/${after("", 40)}`, "a1B2c3"],
  ["a 1Password token", after("ops_eyJ", 60), "a1B2c3"],
  ["an address with escaped slashes", String.raw`postgres:\/\/u:p4ss@h\/db`, "p4ss"],
  ["a private key as a list of lines", JSON.stringify({ key: PEM.split("\n") }), "MIIEowIBAAKCAQEA7bq"],
  [
    "a private key with headers",
    PEM.replace("MII", "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,0A1B\n\nMII"),
    "owIBAAKC",
  ],
  ["a private key that is indented", PEM.replaceAll("\n", "\n    "), "MIIEowIBAAKCAQEA7bq"],
  [
    "a private key on one line",
    `K="${PEM.replace("MII", `${after("", 64)} MII`)
      .replace(/\n(?=q1Z)/, after("", 48))
      .replaceAll("\n", " ")}"`,
    "MIIEowIB",
  ],
  [
    "a private key whose sum is written",
    PEM.replace("x==", "x==\n=aB3d").replaceAll("RSA PRIVATE", "PGP PRIVATE"),
    "q1Z+",
  ],
  ["all parts of a header", "Authorization: AWS4-HMAC-SHA256 Credential=A/b, SignedHeaders=h, Signature=abc1", "abc1"],
  ["a header in quotes, all of it", `-H "Authorization: Digest user=x, response='ab c'"`, "ab c"],
  ["several cookies", "Cookie: a=b; sid=1234abcd", "1234abcd"],
  ["a user with a password in quotes", "curl --user 'ana:hunter two' https://h", "hunter two"],
  ["sshpass in argv", '["sshpass","-p","hunter2","ssh"]', "hunter2"],
  ["a value before its name", '{"value":"hunter2","name":"DB_PASSWORD"}', "hunter2"],
  ["a value before its name in YAML", "env:\n  - value: hunter2\n    name: DB_PASSWORD", "hunter2"],
  [
    "a field between name and value",
    '{"name":"API_KEY","sensitive":true,"type":"string","value":"hunter2"}',
    "hunter2",
  ],
  ["a field between name and value in YAML", "- name: API_KEY\n  type: text\n  value: hunter2", "hunter2"],
  ["a list in YAML", "passwords:\n  - hunter2\n  - other", "hunter2"],
  ["a later item of a list in YAML", "passwords:\n- abc\n- 'hunter 2'\nuser: x", "hunter 2"],
  ["a list in YAML that is an item", "- tokens: x\n  secrets:\n    - abc\n    - hunter2\n", "hunter2"],
  ["a text in YAML", "password: |\n  hunter 2\n  and more\nuser: x", "and more"],
  ["a folded text in YAML", "x:\n  password: >-\n    hunter 2\n", "hunter 2"],
  ["a value on its own line in YAML", "password:\n  hunter2\n", "hunter2"],
]

/** Nothing to hide here. */
const ordinary: string[] = [
  "",
  "restart web in staging",
  "commit 3f2c9a1b7d8e4f60a1b2c3d4e5f60718293a4b5c",
  "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
  '{"id":"550e8400-e29b-41d4-a716-446655440000","n":15947634569000323}',
  '{"max_tokens":2000,"token_count":12,"tokens":100,"token":5}',
  '{"token":null,"password":"","secret":false}',
  "r00abcdefgh1234 pnd-0123456789abcdef0123456789abcdef",
  "arn:aws:iam::123456789012:role/deploy",
  "https://example.com/path?page=2&sort=asc#top",
  "https://user@example.com/repo.git",
  "see http://localhost:8080/a@b",
  "host:8080/a and mail ana@example.com",
  "basic authentication, bearer authentication",
  "the password: must be changed",
  "password=$DB_PASSWORD token=${TOKEN} --token $T secret={{ vault.x }}",
  "kubectl get secret web-tls -n prod",
  "secretName: web-tls",
  "class sk-loading-spinner-wrapper-element",
  "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
  "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
  "tokenizer: gpt, keyboard: us, passenger: 3, compass: north",
  "git log --author=ana --since=2026-01-01",
  "2026-11-29 12:30 UTC 127.0.0.1:6379 v1.2.3-rc.1+build.5",
  '{"argv":["git ","status"],"cwd":"/x","env":{"PATH":"/evil"}}',
  "docker run -p 8080:80 web",
  "mkdir -p dir && cp -a dir other && ssh -p 22 host -a x",
  "docker login registry.example.com && docker run -p 8080:80 web",
  "redis-cli -h h -p 6379 ping; cp -a dir other",
  "mysql -P 3306 -p db",
  "mysql -uroot --port 3306 && mkdir -pv dir",
  '{"name":"LOG_LEVEL","value":"debug"}',
  "- name: TZ\n  value: Europe/Vienna",
  '[{"name":"DB_PASSWORD","valueFrom":{"secretKeyRef":{"name":"db","key":"password"}}},{"name":"TZ","value":"UTC"}]',
  "- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef:\n      name: db\n      key: password\n- name: TZ\n  value: UTC",
  '{"name":"DB_PASSWORD","value":"$(OTHER)"}',
  '{"key":"region","value":"eu-1"}',
  '{"token":[],"password":[""],"tokens":[1,2,3]}',
  "/bot/123456 and /bots:AA",
  "task-force-1234567890 risk-assessment-2026-11-29-final",
  "compass=north bypass=on",
  '{"nextPageToken":"CAUQAA","next_token":"abc"}',
  "Secrets:\n\nwhat they are, and what they are not",
  "Enter the password:\n  then press return",
  "Your password:\n- must have twelve letters\n- must not be old",
  "secrets:\n  vault:\n    address: https://vault.example\n",
  "password:\nuser: x",
  '{"name":"password","in":"query","required":true}',
  '[{"value":"5"},{"name":"token","in":"header"}]',
  "- value: 5\n- name: DB_PASSWORD\n  valueFrom: x\n",
  "-----BEGIN RSA PRIVATE KEY-----; rm -rf /",
  "-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----",
  "Cookie: rm -rf /",
  "[slack token, 57 characters]",
]

describe("secrets are masked", () => {
  test.each(secrets)("%s", (_, text, secret) => {
    expect(text).toContain(secret)
    const masked = mask(text)
    expect(masked.text).not.toContain(secret)
    expect(masked.text).toMatch(MASKED)
    expect(masked.count).toBeGreaterThan(0)
  })

  test.each(secrets)("%s, on a line of its own in JSON", (_, text, secret) => {
    let json = `see\n${text}\r\n\t${text}`
    for (let depth = 1; depth <= 3; depth += 1) {
      json = JSON.stringify({ command: json })
      const masked = mask(json)
      expect(masked.text).not.toContain(secret)
      expect(masked.text).not.toContain(JSON.stringify(secret).slice(1, -1))
    }
  })

  test("an escape before a secret stays whole", () => {
    expect(mask(String.raw`{"a":"x\n--password hunter2\nxoxb-1111-2222-abcdefgh\u0001AKIAIOSFODNN7EXAMPLE"}`)).toEqual({
      text: String.raw`{"a":"x\n--password [masked, 7 characters]\n[slack token, 23 characters]\u0001[aws key, 20 characters]"}`,
      count: 3,
      loose: 0,
    })
  })

  test("what stands around a secret stays", () => {
    expect(mask('{"user":"ana","password":"hunter2","env":"prod"}').text).toBe(
      '{"user":"ana","password":"[masked, 7 characters]","env":"prod"}',
    )
    expect(mask("curl -H 'Authorization: Bearer abc123' https://h/x").text).toBe(
      "curl -H 'Authorization: Bearer [bearer token, 6 characters]' https://h/x",
    )
    expect(mask("postgres://u:p@h/db").text).toBe("postgres://u:[password, 1 character]@h/db")
  })

  test("every place is counted once", () => {
    expect(mask("a=1").count).toBe(0)
    expect(mask("password=a1 and token=xoxb-1111-2222-abc").count).toBe(2)
    expect(mask(`Authorization: Bearer ${JWT}`).count).toBe(1)
    expect(mask("password=[masked, 7 characters]")).toEqual({ text: "password=[masked, 7 characters]", ...NONE })
  })
})

test.each(ordinary)("nothing is masked in %j", (text) => {
  expect(mask(text)).toEqual({ text, ...NONE })
  const json = JSON.stringify({ lines: `\n${text}\n${text}` })
  expect(mask(json)).toEqual({ text: json, ...NONE })
})

const SLACK = "xoxb-1111-2222-abcdefgh"

describe("a mask says what it hides", () => {
  test.each([
    [SLACK, "[slack token, 23 characters]"],
    [JWT, `[json web token, ${JWT.length} characters]`],
    [after("ghp_", 36), "[github token, 40 characters]"],
    [after("glpat-", 20), "[gitlab token, 26 characters]"],
    ["AKIAIOSFODNN7EXAMPLE", "[aws key, 20 characters]"],
    [after("AIza", 35), "[google key, 39 characters]"],
    [after("sk_live_", 24), "[stripe key, 32 characters]"],
    [after("sk-proj-", 48), "[openai key, 56 characters]"],
    [after("sk-ant-api03-", 48), "[anthropic key, 61 characters]"],
    [after("npm_", 36), "[npm token, 40 characters]"],
    [PEM, `[private key, ${PEM.length} characters]`],
    ["postgres://u:p@h/db", "postgres://u:[password, 1 character]@h/db"],
    ["Bearer Zx81kkQ2", "Bearer [bearer token, 8 characters]"],
    ["Basic dXNlcjpwYXNz", "Basic [basic credentials, 12 characters]"],
    [`token=${SLACK}`, "token=[slack token, 23 characters]"],
    ["password=hunter2", "password=[masked, 7 characters]"],
    [`password="${"x1 ".repeat(1000)}"`, 'password="[masked, 3,000 characters]"'],
    ['{"pin_code":"😀é"}', '{"pin_code":"[masked, 2 characters]"}'],
  ])("%s", (text, shown) => {
    expect(mask(text).text).toBe(shown)
    expect(mask(text).count).toBe(1)
  })
})

describe("no command hides behind a mask", () => {
  const COMMAND = "; rm -rf /data"

  test.each([
    [`curl -H X:${SLACK}${COMMAND}`, `curl -H X:[slack token, 23 characters]${COMMAND}`],
    [`GH=${after("ghp_", 36)}${COMMAND}`, `GH=[github token, 40 characters]${COMMAND}`],
    [`curl -H Authorization:abc1${COMMAND}`, `curl -H Authorization:[masked, 4 characters]${COMMAND}`],
    [`Authorization: Bearer abc123${COMMAND}`, `Authorization: Bearer [bearer token, 6 characters]${COMMAND}`],
    [`Cookie: a=b${COMMAND}`, `Cookie: [masked, 3 characters]${COMMAND}`],
    [`curl -u ana:hunter2${COMMAND}`, `curl -u ana:[masked, 7 characters]${COMMAND}`],
    [`password=hunter2${COMMAND}`, `password=[masked, 7 characters]${COMMAND}`],
    ["--token a1|sh", "--token [masked, 2 characters]|sh"],
    ["?sig=abcdef0123;reboot", "?sig=[signature, 10 characters];reboot"],
    ["sshpass -p a1;reboot", "sshpass -p [masked, 2 characters];reboot"],
    [PEM.replace("\nq1Z", "\nrm -rf /data\nq1Z"), /^\[private key, 51 characters\]\nrm -rf \/data\nq1Z/],
  ])("%s", (text, shown) => {
    const masked = mask(text)
    if (typeof shown === "string") expect(masked.text).toBe(shown)
    else expect(masked.text).toMatch(shown)
    expect(masked.loose).toBe(0)
  })

  test.each([
    `password="$(rm -rf /data)"`,
    `password='x; rm -rf /data'`,
    `-H 'Authorization: x; rm -rf /data'`,
    "postgres://u:x;rm$IFS-rf@h/",
    JSON.stringify({ password: "x\nrm -rf /data" }),
    "PASSWORD= reboot",
  ])("where a name or quotes say where a secret ends, it is said that it may: %s", (text) => {
    expect(mask(text)).toMatchObject({ count: 1, loose: 1, text: expect.stringContaining("[masked, ") as string })
  })

  test("wherever one is put into a text with secrets", () => {
    const command = fc.constantFrom(
      COMMAND,
      " && rm -rf /data",
      "|rm -rf /data",
      "\nrm -rf /data\n",
      "$(rm -rf /data)",
      " rm -rf /data",
    )
    const texts = fc.constantFrom(...secrets.map(([, text]) => text))
    fc.assert(
      fc.property(texts, command, fc.nat(), fc.nat(2), (text, command, at, depth) => {
        const cut = at % (text.length + 1)
        let whole = text.slice(0, cut) + command + text.slice(cut)
        for (let n = 0; n < depth; n += 1) whole = JSON.stringify({ command: whole })
        const masked = mask(whole)
        // Its first word may pass for the secret that it stands in for.
        if (masked.loose === 0) expect(masked.text).toContain(" -rf /data")
      }),
      { numRuns: 3000 },
    )
  })
})

describe("whatever the text", () => {
  const bits = fc.oneof(
    fc.constantFrom(
      ...secrets.map(([, text]) => text),
      ...ordinary,
      "[masked, 7 characters]",
      "[slack token, 57 characters]",
    ),
    fc.constantFrom(
      '"',
      "'",
      "\\",
      "\\\\",
      ":",
      "=",
      " ",
      ",",
      "@",
      "://",
      "password",
      "--token",
      "Bearer ",
      "\n",
      "\\n",
      "\\u0001",
      "{",
      "}",
      "-----BEGIN RSA PRIVATE KEY-----",
    ),
    fc.string({ maxLength: 8 }),
  )
  const texts = fc.array(bits, { maxLength: 8 }).map((parts) => parts.join(""))

  test("masking once more changes nothing", () => {
    fc.assert(
      fc.property(texts, (text) => {
        const once = mask(text).text
        expect(mask(once)).toEqual({ text: once, ...NONE })
      }),
      { numRuns: 2000 },
    )
  })

  test("what stays is the text's own, in order", () => {
    fc.assert(
      fc.property(texts, (text) => {
        const { text: masked, count } = mask(text)
        if (count === 0) expect(masked).toBe(text)
        let from = 0
        for (const piece of masked.split(MASKED)) {
          const at = text.indexOf(piece, from)
          expect(at).toBeGreaterThanOrEqual(from)
          from = at + piece.length
        }
      }),
      { numRuns: 1000 },
    )
  })

  test.each([
    ["names", "password"],
    ["open quotes", 'password="'],
    ["open quotes, ever deeper", "password=" + "\\".repeat(7) + '"'],
    ["words with dots", "a.b-c_"],
    ["lower case", "abcdefgh"],
    ["key beginnings", "-----BEGIN A-----"],
    ["addresses", "://a:"],
    ["headers", "authorization: "],
    ["cookies", "cookie: a="],
    ["backslashes", "\\"],
    ["flags", "--token "],
    ["tokens", "eyJaaaaaa.aaaaaa."],
    ["names of pairs", '"name":"password",'],
    ["values of pairs", '"value":"a",'],
    ["lists", 'password":["a","'],
    ["an open list", '"a",'],
    ["command lines", "mysql -u "],
    ["logins", "docker login "],
    ["flags of a client", "redis-cli -a"],
    ["white space", " "],
    ["dots", "."],
    ["masks", "[masked, 5 characters]"],
    ["users", "-u a:"],
    ["signs", "token=x "],
    ["YAML", "password:\n - a\n"],
    ["YAML in JSON", "password:\\n - a\\n"],
    ["keys cut off", "-----BEGIN PRIVATE KEY-----\n"],
    ["Slack tokens", `${SLACK} `],
  ])("a long text of %s takes no longer per character than a short one", (_, bit) => {
    const text = bit.repeat(Math.ceil(200_000 / bit.length))
    const start = process.cpuUsage()
    mask(text)
    const { user, system } = process.cpuUsage(start)
    // A fifth of it is usual.
    expect((user + system) / 1000).toBeLessThan(1000)
  })
})
