"""Every rule for a vendor's token: one entry each, in the file of its trade."""

from __future__ import annotations

from argentum.security.rules.ai import AI_RULES
from argentum.security.rules.business import BUSINESS_RULES
from argentum.security.rules.cloud import CLOUD_RULES
from argentum.security.rules.code import CODE_RULES
from argentum.security.rules.rule import Rule
from argentum.security.rules.talk import TALK_RULES

RULES: tuple[Rule, ...] = (*AI_RULES, *CLOUD_RULES, *CODE_RULES, *TALK_RULES, *BUSINESS_RULES)

__all__ = ["RULES", "Rule"]
