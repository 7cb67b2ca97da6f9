"""
What names say of their values: `api_key` says credential, `key_id` and `next_page_token` say none.

A name is looked at as words, whatever their style: `apiKey`, `API_KEY`, `api-key` and `api key`.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

Strength = Literal["strong", "weak", "provider", ""]
"""How surely a name is a credential's; `provider` names only who would have given one."""

# What a key or token is for that is a credential.
_PURPOSES = """
    access account admin api app application auth bearer bot client consumer customer deploy
    deployment dev developer encrypt encryption id ingest integration license licence login
    master oauth org organization personal private project publish push read refresh
    registry rest root sas scoped sdk security server service session shared signing storage
    team upload user webhook write x
"""
# What a key or token is for that is none.
_OTHER_PURPOSES = """
    cache cached completion composite continuation count cursor dedup dict eos bos foreign
    group idempotency input map mask max min natural next num object output pad page
    pagination partition prev previous primary prompt reasoning resume routing row s3 sort
    stop surrogate sync total unique
"""
# What is told of a credential that is not the credential.
_ABOUT = """
    alg algorithm alias arn at budget class column confirmation cost count date description
    enabled endpoint error expiration expires? expiry field file filename format hint id ids
    index input label length limit location manager max message min name names on path
    pattern placeholder policy prefix prompt provider ref reference regex required reset
    rotation rule rules size status store strength time ttl type types uri url usage usages
    vault version window
"""
_NOT_KEYS = """
    bypass compass donkey hockey keyboard keyword monkey passed passenger passing passive passport
    secretary tokeniz tokenis turkey whiskey
"""
_STRONG_NAMES = """
    secret pwd credential bearer authorization encryption authtoken authkey apikey appkey
"""
_HINTS = "key token secret pass pwd auth cred bear crypt conn dsn sid cook otp salt jwt pat"
"""Without one of these in it, a name is no credential's."""
_DIGESTS = "checksum commit digest etag fingerprint hash integrity md5 public revision"
_PROVIDERS = """
    adafruit adobe adyen airbrake airship airtable aiven alchemy algolia alibaba aliyun
    amplitude anthropic anyscale apify appcenter appsflyer artifactory asana assemblyai
    atlassian auth0 aws azure bamboohr baseten beamer bitbucket bitly bittrex braintree
    branch braze browserstack bugsnag buildkite bybit cerebras chargebee checkout circleci
    clarifai clearbit clickhouse cloudant cloudflare cloudinary codacy codeclimate codecov
    cohere coinbase confluent contentful couchbase coveralls currencycloud customerio
    databricks datadog deepai deepgram deepl deepseek digitalocean discord docker docusign
    dreamstudio droneci dropbox dwolla elastic elevenlabs etherscan etsy eventbrite facebook
    fastly figma finicity finnhub firebase flickr flutterwave foursquare freshbooks
    freshdesk gemini geocodio ghost giphy gitea github gitlab gitter gocardless google
    grafana groq harvest heroku honeycomb hubspot huggingface hunter infura instagram
    intercom ipinfo ipstack jenkins jira jotform jumpcloud kairos keen klaviyo kraken kucoin
    launchdarkly line linear linkedin linode lob locationiq logdna loggly looker mailchimp
    mailgun mailjet mapbox mattermost maxmind messagebird mistral mixpanel monday mongodb
    moralis mux netlify new_relic newrelic newsapi ngrok notion npm nytimes okta onelogin
    openai openweather opsgenie optimizely owm pagerduty paypal paystack pendo pinata
    pinecone pinterest pipedrive plaid plivo polygon postmark prismic pubnub pusher quay
    rapid7 rapidapi razorpay recaptcha recurly reddit redis replicate ringcentral riot
    rollbar runpod salesforce sauce scaleway segment sendbird sendgrid sendinblue sentry
    serpapi shippo shodan shopify sidekiq signalwire slack snyk sonar sonarcloud sonarqube
    soundcloud splunk spotify square squarespace stability stackexchange statuspage
    storyblok stripe sumologic supabase surge telegram telnyx tencent thingsboard tiingo
    todoist together tomtom travis travisci trello twilio twitch twitter typeform unsplash
    vercel vimeo virustotal vonage voyage vultr wakatime wandb weatherapi webflow wistia
    wolfram yandex yelp youtube zapier zendesk zoom
"""


def _any_of(words: str) -> str:
    return "|".join(words.split())


# An expression of hundreds of words tries each of them at each character; so plain words are
# looked for one by one (in `str`, where that costs a tenth of what it costs in `bytes`), what
# stands before or behind a key or token is compared at that place only, and an expression is
# tried only where its first word is.
_STRONG = re.compile(
    r"pass(?:word|wd|phrase|code|wort|\b|_|$)|api[-_ .]?(?:key|token|auth)|auth[-_ ]?header"
    r"|connection[-_ ]?string|signature[-_ ]?key",
    re.ASCII,
)
_STRONG_TYPE = re.compile(r"(?:^|[-_. ])(?:pat|jwt)(?:$|[-_. ])")
_WEAK = re.compile(
    r"(?:^|[^a-z])(?:key|token)s?(?![a-z])|[a-z](?:key|token)$|auth(?!or)"
    r"|(?:^|[-_. ])(?:dsn|sid|cookie|otp|salt)$"
)
_AGAINST_WORDS = [*_NOT_KEYS.split(), *_DIGESTS.split(), "publishable", "published"]
_ABOUT_CREDENTIAL = re.compile(
    r"(?:key|token|secret|password|pwd|pass|credential)s?[-_ .]?"
    rf"(?:{_any_of(_ABOUT)})s?(?![a-z])"
)
_AUTHOR = re.compile(r"author(?!iz|is)")
_CHECKSUM = re.compile(r"(?:^|[^a-z])(?:sha|crc)")
_NAMED_ID = re.compile(
    r"(?:trace|span|request|correlation|run|event|message|order|session|job|task|build)[-_]?id$"
)
_KEY_OR_TOKEN = re.compile(r"(?:key|token)(s?(?![a-z]))?")
_PURPOSE_WORDS = tuple(_PURPOSES.split())
_OTHER_PURPOSE_WORDS = tuple(_OTHER_PURPOSES.split())
_STRONG_WORDS, _HINT_WORDS = _STRONG_NAMES.split(), _HINTS.split()
_PROVIDER_NAMES = frozenset(_PROVIDERS.split())
_WORD = re.compile(r"[a-z0-9]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


@lru_cache(maxsize=4096)  # bounded: names come from outside
def strength_of(name: bytes) -> Strength:
    """Tell how strongly a name says that its value is a credential."""
    text = name.decode("latin-1")
    words = _words_of(text)
    provider = not _PROVIDER_NAMES.isdisjoint(_WORD.findall(words))
    if not provider and not has_hint(text.lower()):
        return ""
    purpose = _purpose(words)
    if purpose == "other" or _is_against(words):
        return ""
    if purpose == "credential" or _is_strong(words):
        return "strong"
    if _WEAK.search(words):
        return "strong" if provider else "weak"
    return "provider" if provider else ""


def _words_of(text: str) -> str:
    """Give a text in small letters, with the words of camel case apart."""
    return text if text.islower() else _CAMEL.sub("_", text).lower()


def _purpose(words: str) -> str:
    """Tell what a key or token is for by the word before it."""
    purpose = ""
    if "key" not in words and "token" not in words:
        return purpose
    for found in _KEY_OR_TOKEN.finditer(words):
        before = words[: found.start()]
        if before[-1:] in _SEPARATORS:
            before = before[:-1]
        if before.endswith(_OTHER_PURPOSE_WORDS):
            return "other"
        if found[1] is not None and before.endswith(_PURPOSE_WORDS):
            purpose = "credential"
    return purpose


_SEPARATORS = frozenset("-_ .")


def _is_against(words: str) -> bool:
    for word in _AGAINST_WORDS:
        if word in words:
            return True
    return (
        _ABOUT_CREDENTIAL.search(words) is not None
        or ("author" in words and _AUTHOR.search(words) is not None)
        or (("sha" in words or "crc" in words) and _CHECKSUM.search(words) is not None)
        or (words.endswith("id") and _NAMED_ID.search(words) is not None)
    )


def _is_strong(words: str) -> bool:
    for word in _STRONG_WORDS:
        if word in words:
            return True
    return _STRONG.search(words) is not None or (
        ("pat" in words or "jwt" in words) and _STRONG_TYPE.search(words) is not None
    )


def has_hint(lower: str) -> bool:
    """Tell quickly that no name in a text can be a credential's, but for a provider's own name."""
    for hint in _HINT_WORDS:  # noqa: SIM110 - a generator costs more than the looks
        if hint in lower:
            return True
    return False


def mentions_credential(context: bytes) -> bool:
    """Tell whether words near a value name a credential."""
    text = context.decode("latin-1")
    if not has_hint(text.lower()):
        return False
    words = _words_of(text)
    purpose = _purpose(words)
    strong = purpose == "credential" or (purpose == "" and _is_strong(words))
    return strong and not _is_against(words)
