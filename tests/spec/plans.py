from argentum import PlanLinter
linter = PlanLinter()
# Agent-generated execution plan
plan = {
    "steps": [
        {
            "id": "fetch_data",
            "tool": "web_search",
            "parameters": {"query": "machine learning trends 2024"},
            "outputs": ["search_results"]
        },
        {
            "id": "analyze",
            "tool": "data_analyzer",
            "parameters": {"data": "{{search_results}}", "method": "sentiment"},
            "outputs": ["analysis"]
        }
    ]
}
# Tool specifications
tools = {
    "web_search": {
        "parameters": {
            "query": {"type": "string", "required": True},
            "limit": {"type": "integer", "required": False, "default": 10}
        }
    },
    "data_analyzer": {
        "parameters": {
            "data": {"type": "string", "required": True},
            "method": {"type": "string", "required": False, "default": "basic"}
        }
    }
}
# Validate the plan
result = linter.lint(plan, tools, secrets=["api_key", "password"])
if result.has_errors():
    print("❌ Plan has errors:")
    for issue in result.errors:
        print(f" {issue.code}: {issue.message}")
if result.has_warnings():
    print("⚠️ Plan warnings:")
    for warning in result.warnings:
        print(f" {warning.code}: {warning.message}")
if result.is_valid():
    print("✅ Plan is valid and ready for execution")
