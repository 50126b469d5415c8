"""What the plugin keeps in a project costs other agents' prompts next to nothing."""

from host_double.handover_kit import extras, hand_over, respond


def tokens_of_files(host):
    from usr.plugins.software_orchestrator.helpers.text import tokens

    return tokens.counter().count(extras(host))


def test_fifty_handovers_add_at_most_20_tokens_to_an_agents_prompt(any_host):
    host = any_host
    folder = host.project("acme")
    host.script({"agent0": [respond("hello")] * 2})
    host.say("Hello")
    before = tokens_of_files(host)

    topics = [f"part {number} of the shop" for number in range(50)]
    chats = [host.new_chat() for _ in range(5)]
    for number, topic in enumerate(topics):
        chat = chats[number % 5]
        host.project("acme", chat)
        args = {**hand_over(topic=topic)["tool_args"]}
        assert not host.tool("handover_to_specialist", chat.agent0, **args).error
    assert len(list(folder.rglob("*.jsonl"))) == 50

    other = host.new_chat()
    host.project("acme", other)
    host.say("Hello", other)
    assert "chains" not in extras(host)
    assert "handover/" in extras(host)
    assert tokens_of_files(host) - before <= 20
