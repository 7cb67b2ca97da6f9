from argentum import ContextDecay
# Create decay manager (information half-life: 20 interactions)
context = ContextDecay(half_life_steps=20)
# Add information with different importance levels
context.add("user_name", "Alice", importance=0.9) # Very important
context.add("current_task", "write_email", importance=1.0) # Critical
context.add("weather_comment", "sunny today", importance=0.3) # Temporary
# Time passes (simulate 10 interactions)
for _ in range(10):
    context.step()
# Get information that's still relevant
active = context.get_active(threshold=0.5)
for key, value, current_weight in active:
    print(f"{key}: {value} (weight: {current_weight:.2f})")
# Clean up completely faded memories
removed = context.clear_expired(threshold=0.1)
print(f"Cleaned up {removed} expired memories")
# Get memory statistics
stats = context.get_stats()
print(f"Total items: {stats['total_items']}")
print(f"Active items: {stats['active_items']}")
print(f"Average decay: {stats['avg_decay']:.2f}")
