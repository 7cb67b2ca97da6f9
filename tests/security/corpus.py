"""
A corpus of made secrets and of what looks like secrets and is none; nothing in it was ever live.

Tokens are drawn from the shapes that vendors document, written here on their own and not taken from
the rules under test. Each is put into the ways in which secrets reach an agent: environment files,
JSON, YAML, code, headers, URLs, logs, prose. `HELD_OUT` names vendors that have no rule and whose
shapes were not looked at while the rule for named keys was written.
"""

from __future__ import annotations

import base64
import hashlib
import json
import random
import re
import string
import uuid
from collections.abc import Callable
from typing import NamedTuple
from zlib import crc32

LETTERS, DIGITS = string.ascii_letters, string.digits
ALPHABETS = {
    "w": LETTERS + DIGITS,
    "a": LETTERS,
    "u": LETTERS + DIGITS + "_-",
    "h": "0123456789abcdef",
    "H": "0123456789ABCDEF",
    "l": string.ascii_lowercase + DIGITS,
    "c": string.ascii_uppercase + DIGITS,
    "b": "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
    "s": LETTERS + DIGITS + "+/",
    "d": DIGITS,
}
BASE62 = DIGITS + string.ascii_uppercase + string.ascii_lowercase

# A shape is literal text with {alphabet and length}, {uuid} or {crc}: 30 characters and checksum.
WITH_PREFIX: dict[str, list[str]] = {
    "openai": ["sk-proj-{u74}T3BlbkFJ{u74}", "sk-{w20}T3BlbkFJ{w20}", "sk-svcacct-{u60}"],
    "anthropic": ["sk-ant-api03-{u93}AA", "sk-ant-admin01-{u93}AA", "sk-ant-oat01-{u93}AA"],
    "openrouter": ["sk-or-v1-{h64}"],
    "deepseek": ["sk-{h32}"],
    "google": ["AIza{u35}", "GOCSPX-{u28}", "ya29.{u68}"],
    "huggingface": ["hf_{a34}"],
    "replicate": ["r8_{w37}"],
    "groq": ["gsk_{w52}"],
    "perplexity": ["pplx-{w48}"],
    "xai": ["xai-{w80}"],
    "langsmith": ["lsv2_pt_{h32}_{h10}", "lsv2_sk_{h32}_{h10}"],
    "langfuse": ["sk-lf-{uuid}"],
    "nvidia": ["nvapi-{u64}"],
    "elevenlabs": ["sk_{h48}"],
    "tavily": ["tvly-{w32}", "tvly-dev-{w32}"],
    "databricks": ["dapi{h32}"],
    "e2b": ["e2b_{h40}"],
    "firecrawl": ["fc-{h32}"],
    "apify": ["apify_api_{w36}"],
    "aws": ["AKIA{b16}", "ASIA{b16}"],
    "digitalocean": ["dop_v1_{h64}", "doo_v1_{h64}", "dor_v1_{h64}"],
    "heroku": ["HRKU-AA{u58}"],
    "cloudflare": ["v1.0-{h24}-{h146}"],
    "alibaba": ["LTAI{w20}"],
    "render": ["rnd_{w32}"],
    "netlify": ["nfp_{w36}"],
    "supabase": ["sbp_{h40}"],
    "planetscale": ["pscale_tkn_{u43}", "pscale_pw_{u43}"],
    "doppler": ["dp.pt.{w43}", "dp.st.dev.{w43}"],
    "vault": ["hvs.{u92}"],
    "pulumi": ["pul-{h40}"],
    "openshift": ["sha256~{u43}"],
    "tailscale": ["tskey-auth-{w12}CNTRL-{w32}", "tskey-api-{w12}CNTRL-{w32}"],
    "onepassword": ["ops_eyJ{s250}"],
    "dynatrace": ["dt0c01.{c24}.{c64}"],
    "octopus": ["API-{c26}"],
    "github": ["ghp_{crc}", "gho_{crc}", "ghs_{crc}", "github_pat_{w22}_{w59}"],
    "gitlab": ["glpat-{u20}", "gldt-{u20}", "glrt-{u20}", "glptt-{h40}"],
    "bitbucket": ["ATBB{w32}"],
    "atlassian": ["ATATT3xFfGF0{u160}={H8}"],
    "npm": ["npm_{crc}"],
    "pypi": ["pypi-AgEIcHlwaS5vcmc{u150}"],
    "rubygems": ["rubygems_{h48}"],
    "docker": ["dckr_pat_{u27}"],
    "crates": ["cio{w32}"],
    "clojars": ["CLOJARS_{h60}"],
    "buildkite": ["bkua_{h40}"],
    "circleci": ["CCIPAT_{w22}_{h40}"],
    "sourcegraph": ["sgp_{h16}_{h40}"],
    "sonar": ["sqp_{h40}", "squ_{h40}"],
    "postman": ["PMAK-{h24}-{h34}"],
    "figma": ["figd_{u40}"],
    "linear": ["lin_api_{w40}"],
    "prefect": ["pnu_{w36}"],
    "readme": ["rdme_{l70}"],
    "contentful": ["CFPAT-{u43}"],
    "notion": ["ntn_{d11}{w35}", "secret_{w43}"],
    "airtable": ["pat{w14}.{h64}"],
    "terraform": ["{w14}.atlasv1.{u67}"],
    "grafana": ["glsa_{w32}_{h8}", "glc_{s80}"],
    "sentry": ["sntryu_{h64}"],
    "newrelic": ["NRAK-{c27}"],
    "slack": [
        "xoxb-{d12}-{d13}-{w24}",
        "xoxp-{d12}-{d12}-{d12}-{h32}",
        "xapp-1-A{c10}-{d13}-{h64}",
        "https://hooks.slack.com/services/T{c10}/B{c10}/{w24}",
    ],
    "discord": ["M{w23}.{w6}.{u38}", "https://discord.com/api/webhooks/{d18}/{u68}"],
    "telegram": ["{d10}:AA{u33}"],
    "twilio": ["SK{h32}"],
    "sendgrid": ["SG.{u22}.{u43}"],
    "mailgun": ["key-{h32}"],
    "mailchimp": ["{h32}-us12"],
    "brevo": ["xkeysib-{h64}-{w16}"],
    "resend": ["re_{w8}_{w24}"],
    "hubspot": ["pat-na1-{uuid}"],
    "stripe": ["sk_live_{w24}", "rk_live_{w24}", "whsec_{w32}", "sk_test_{w99}"],
    "square": ["sq0atp-{u22}", "sq0csp-{u43}"],
    "paypal": ["access_token$production${l16}${h32}"],
    "plaid": ["access-sandbox-{uuid}"],
    "razorpay": ["rzp_live_{w14}"],
    "shopify": ["shpat_{h32}", "shpss_{h32}", "shpca_{h32}"],
    "shippo": ["shippo_live_{h40}"],
    "easypost": ["EZAK{w54}"],
    "duffel": ["duffel_live_{u43}"],
    "typeform": ["tfp_{u44}"],
    "facebook": ["EAAC{w120}"],
    "mapbox": ["sk.eyJ{u80}.{u22}"],
    "azure": ["{u3}8Q~{u34}"],
}

BY_NAME_ONLY: dict[str, list[str]] = {
    "datadog": ["{h32}", "{h40}"],
    "algolia": ["{h32}"],
    "cohere": ["{w40}"],
    "mistral": ["{w32}"],
    "deepgram": ["{h40}"],
    "wandb": ["{h40}"],
    "okta": ["00{u40}"],
    "fastly": ["{u32}"],
    "linode": ["{h64}"],
    "pagerduty": ["{u20}"],
    "opsgenie": ["{uuid}"],
    "postmark": ["{uuid}"],
    "trello": ["{h32}"],
    "zendesk": ["{w40}"],
    "asana": ["{h32}"],
    "intercom": ["{s60}"],
    "aws_secret": ["{s40}"],
    "azure_storage": ["{s86}=="],
    "twitch": ["{l30}"],
    "spotify": ["{h32}"],
}

HELD_OUT: dict[str, list[str]] = {
    "hetzner": ["{w64}"],
    "zenduty": ["{l40}"],
    "mollie": ["live_{w30}"],
    "paddle": ["pdl_live_{w50}"],
    "lemonsqueezy": ["{h64}"],
    "axiom": ["xaat-{uuid}"],
    "turso": ["{w44}"],
    "convex": ["prod:{w60}"],
    "meilisearch": ["{u43}"],
    "typesense": ["{w32}"],
    "chroma": ["ck-{w43}"],
    "modal": ["as-{w22}"],
}
"""Vendors whose keys are found by the name alone, if at all."""


class Sample(NamedTuple):
    """A text, and the secret in it ("" if there is none)."""

    vendor: str
    text: str
    secret: str


class Maker:
    """Draws tokens and puts them into texts, always the same for one seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def drawn(self, alphabet: str, length: int) -> str:
        """Draw characters; a separator neither opens nor closes them."""
        inner = ALPHABETS[alphabet]
        outer = [one for one in inner if one.isalnum()]
        last = length - 1
        return "".join(
            self.random.choice(inner if 0 < place < last else outer) for place in range(length)
        )

    def token(self, shape: str) -> str:
        return re.sub(r"\{(uuid|crc|[a-zA-Z]\d+)\}", self._piece, shape)

    def _piece(self, found: re.Match[str]) -> str:
        what = found[1]
        if what == "uuid":
            return str(uuid.UUID(int=self.random.getrandbits(128), version=4))
        if what == "crc":
            body = self.drawn("w", 30)
            return body + base62(crc32(body.encode()))
        return self.drawn(what[0], int(what[1:]))


def base62(number: int) -> str:
    """Write a number in six base-62 digits, as the checksums of GitHub and npm do."""
    digits = ""
    for _ in range(6):
        number, digit = divmod(number, 62)
        digits = BASE62[digit] + digits
    return digits


WRAPPERS: list[Callable[[str, str], str]] = [
    lambda name, token: f"{name.upper()}_API_KEY={token}\n",
    lambda name, token: f'export {name.upper()}_TOKEN="{token}"',
    lambda name, token: json.dumps({f"{name}_api_key": token, "retries": 3}),
    lambda name, token: json.dumps({"log": json.dumps({"apiKey": token})}),
    lambda name, token: f"{name}:\n  region: eu\n  access_token: {token}\n",
    lambda name, token: f"const {name}ApiKey = '{token}';",
    lambda name, token: f'client = {name.title()}(api_key="{token}", timeout=30)',
    lambda name, token: f"curl -H 'Authorization: Bearer {token}' https://api.{name}.com/v1/me",
    lambda name, token: f"curl -H 'X-Api-Key: {token}' https://api.{name}.com/v1/me",
    lambda name, token: f"GET https://api.{name}.com/v1/items?api_key={token}&page=2",
    lambda name, token: f"<config><apiToken>{token}</apiToken></config>",
    lambda name, token: f"2026-01-04T10:00:01Z INFO {name} auth_token={token} status=200",
    lambda name, token: f"tool --api-key {token} --verbose",
    lambda name, token: f"My {name} API key is {token}, please keep it safe.",
    lambda name, token: json.dumps(
        {"env": [{"name": f"{name.upper()}_SECRET_KEY", "value": token}]}
    ),
    lambda name, token: f'{name}_secret := "{token}" // set by deploy',
]
BARE_WRAPPERS: list[Callable[[str, str], str]] = [
    lambda name, token: f"{token}",
    lambda name, token: f"User: try this one: {token}. Does it work?",
    lambda name, token: json.dumps({"messages": [{"role": "user", "content": f"use {token}\n"}]}),
    lambda name, token: f'["{name}", "{token}", 12]',
    lambda name, token: "blob: " + base64.b64encode(f'{{"k": "{token}"}}'.encode()).decode(),
]
"""Where nothing but the token's own shape says what it is."""

PASSWORDS = (
    'password = "{}"',
    '{{"username": "ann", "password": "{}"}}',
    "DB_PASSWORD={}",
    "db_pass: '{}'",
    "postgres://svc:{}@db.internal:5432/app",
    "mongodb+srv://app:{}@cluster0.mongodb.net/x",
    "redis://:{}@cache:6379/0",
    "amqp://worker:{}@mq/vhost",
    'smtp_pwd="{}"',
    "passphrase: {}",
    "spring.datasource.password={}",
    'setPassword("{}")',
    "mysql --password={} -h db",
    "<password>{}</password>",
)


def vendors(*, held_out: bool) -> dict[str, list[str]]:
    """Name the vendors of one part and their shapes."""
    return HELD_OUT if held_out else {**WITH_PREFIX, **BY_NAME_ONLY}


def positives(seed: int = 1, *, per_vendor: int = 18, held_out: bool = False) -> list[Sample]:
    """Make texts with one secret each."""
    make = Maker(seed)
    samples = []
    for vendor, shapes in vendors(held_out=held_out).items():
        wrappers = WRAPPERS + (BARE_WRAPPERS if vendor in WITH_PREFIX else [])
        for number in range(per_vendor):
            token = make.token(shapes[number % len(shapes)])
            wrap = make.random.choice(wrappers)
            samples.append(Sample(vendor, wrap(vendor, token), token))
    return samples if held_out else samples + others(make, 20 * per_vendor)


def others(make: Maker, count: int) -> list[Sample]:
    """Make passwords, private keys and web tokens."""
    samples = []
    for number in range(count):
        if number % 6 == 0:
            samples.append(private_key(make))
        elif number % 6 == 1:
            samples.append(web_token(make))
        else:
            password = make.drawn("w", make.random.randrange(8, 20)) + make.random.choice("!#%*_-")
            password += make.random.choice(DIGITS)
            frame = PASSWORDS[number % len(PASSWORDS)]
            samples.append(Sample("password", frame.format(password), password))
    return samples


def private_key(make: Maker) -> Sample:
    """Make a PEM frame around drawn lines."""
    kind = make.random.choice(("RSA ", "EC ", "OPENSSH ", "", "ENCRYPTED "))
    lines = [make.drawn("s", 64) for _ in range(12)]
    text = "\n".join(
        (f"-----BEGIN {kind}PRIVATE KEY-----", *lines, f"-----END {kind}PRIVATE KEY-----")
    )
    shown = make.random.choice((text, json.dumps({"key": text}), f"key: |\n{text}\n"))
    return Sample("private-key", shown, lines[3])


def web_token(make: Maker) -> Sample:
    """Make a JWT that decodes."""
    parts = ({"alg": "HS256", "typ": "JWT"}, {"sub": make.drawn("d", 9), "iat": 1767225600})
    first, second = (
        base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts
    )
    token = f"{first}.{second}.{make.drawn('u', 43)}"
    frame = make.random.choice(("{}", '{{"jwt": "{}"}}', "Cookie: session={}; Path=/", "Bearer {}"))
    return Sample("web-token", frame.format(token), token)


# ---------------------------------------------------------------- what is none

WORDS = [
    "the",
    "agent",
    "reads",
    "every",
    "message",
    "before",
    "it",
    "calls",
    "a",
    "tool",
    "union",
    "square",
    "station",
    "keeps",
    "trains",
    "token",
    "budget",
    "context",
    "window",
    "secret",
    "garden",
    "key",
    "insight",
    "password",
    "policy",
    "review",
    "author",
    "keyboard",
]
NOT_SECRET = (
    "aws_access_key_id = AKIAIOSFODNN7EXAMPLE",
    "secret: wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "OPENAI_API_KEY=<your-key>",
    "api_key: ${API_KEY}",
    "token = {{login.token}}",
    "password: ********",
    'api_key = os.environ["OPENAI_API_KEY"]',
    "password = getpass.getpass()",
    "apiKey: process.env.API_KEY",
    "ANTHROPIC_API_KEY=sk-ant-xxxxxxxxxxxxxxxxxxxxxxxx",
    "export TOKEN=your_token_here",
    "password=changeme",
    "sk-XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX",
    "postgres://user:password@localhost:5432/db",
    "pwd",
    "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
    "if password == confirm_password:",
    "def login(user: str, password: str) -> Token:",
    "https://a:${PW}@host/",
    '{"properties": {"password": {"type": "string", "description": "The password"}}}',
    "secret_name: prod/db/main",
    "The secret is out: tokens are cheap.",
    "password: string",
    "token: Optional[str]",
    '"password": "Password", "forgot": "Forgot your password?"',
    "tokens: 128000, max_tokens: 4096",
    "secretKeyRef: {name: db, key: password}",
    "password: !vault |",
    'token_type: "bearer"',
    "pass: true",
    "api_key = config.get('api_key')",
    "client_secret=@Microsoft.KeyVault(SecretUri=https://v/s)",
    "git clone https://$USER:$TOKEN@github.com/a/b",
    "the key is under the mat",
    "key: value",
    "Basic usage",
    "password_hash = '$2b$12$KIXQhQ0T2x7m7e4Yw0bZkeJm1yqz3kq8wqg2q8w0q8w0q8w0q8w0q'",
)


def negatives(seed: int = 2, *, count: int = 1200) -> list[Sample]:
    """Make texts without a secret that look as if they had one."""
    make = Maker(seed)
    kinds = (digest, identifier, prose, code, address, encoded, named_otherwise, fixed)
    return [
        Sample(kind.__name__, kind(make), "")
        for number in range(count)
        for kind in (kinds[number % len(kinds)],)
    ]


def digest(make: Maker) -> str:
    """Make a hash, as a checksum, a commit or a tag."""
    data = make.drawn("w", 12).encode()
    name = make.random.choice(("sha1", "sha256", "md5", "sha512"))
    value = hashlib.new(name, data).hexdigest()
    frame = make.random.choice(
        (
            "commit {}",
            "{}  dist/app.tar.gz",
            '"sha": "{}"',
            "image@sha256:{}",
            'etag: "{}"',
            "merge {} into main",
            "checksum = {}",
            "token count for {} is 12",
            "fix: revert {} (secret scanning)",
            "key_hash: {}",
        )
    )
    return frame.format(value)


def identifier(make: Maker) -> str:
    """Make a UUID under a name of no credential."""
    value = str(uuid.UUID(int=make.random.getrandbits(128), version=4))
    frame = make.random.choice(
        (
            "request_id={}",
            '{{"id": "{}", "token_count": 12}}',
            "trace {} took 3 ms",
            "/users/{}/tokens",
            "session_id: {}",
            "api_key_id: {}",
            "secret_id = {}",
            "span={} auth ok",
        )
    )
    return frame.format(value)


def prose(make: Maker) -> str:
    """Make a sentence of words that name secrets."""
    words = [make.random.choice(WORDS) for _ in range(30)]
    return " ".join(words).capitalize() + "."


def code(make: Maker) -> str:
    """Make a line of code that handles credentials and holds none."""
    name = "".join(word.title() for word in make.random.sample(WORDS, 4))
    frame = make.random.choice(
        (
            "token = get{}Token(request)",
            "self.secret = self.{}.load()",
            "password = {}()",
            "apiKey: {}Key,",
            "class {}TokenProvider2(Base):",
            "from app.{}V2Secrets import load_secret_from_file",
            "auth = {}Auth2.create()",
            "secret_key = settings.{}",
            "import {}Credentials from '../lib/{}Credentials'",
        )
    )
    return frame.replace("{}", name)


def address(make: Maker) -> str:
    """Make a URL or a path."""
    slug = "-".join(make.random.sample(WORDS, 5))
    number = make.random.randrange(10**6, 10**9)
    frame = make.random.choice(
        (
            "https://example.org/{0}/{1}?utm_source=token",
            "s3://bucket/{0}/{1}/part-0001.parquet",
            "/var/lib/app/{0}-{1}.log",
            "http://localhost:8080/{0}@{1}",
            "arn:aws:secretsmanager:eu-west-1:{1}:secret:{0}",
            "file:///home/ann/{0}/{1}/secret.txt",
        )
    )
    return frame.format(slug, number)


def encoded(make: Maker) -> str:
    """Make base64 of what is no text."""
    data = make.random.randbytes(make.random.randrange(60, 300))
    value = base64.b64encode(data).decode()
    frame = make.random.choice(
        (
            "data:image/png;base64,{}",
            '"integrity": "sha512-{}"',
            '{{"image": "{}"}}',
            "content: {}",
            "signature={}",
            '{{"embedding_b64": "{}"}}',
        )
    )
    return frame.format(value)


def named_otherwise(make: Maker) -> str:
    """Make a drawn text under a name that says it is no credential."""
    frame = make.random.choice(
        (
            '{{"next_page_token": "{}"}}',
            "primary_key: {}",
            "cache_key={}",
            "public_key = {}",
            "idempotency-key: {}",
            '{{"call_id": "call_{}"}}',
            '{{"id": "msg_{}", "role": "user"}}',
            "model: gpt-4o-{}",
            "toolu_{}",
            "run-{}",
            "partition_key: {}",
            "publishable_key=pk_{}",
        )
    )
    return frame.format(make.drawn("w", 24))


def fixed(make: Maker) -> str:
    """Take a placeholder, a reference or a mention."""
    return make.random.choice(NOT_SECRET)
