"""The parts of four model APIs that agents need: which tools are offered, what came back, how to say texts and calls.

A step is a text, or a call as (id, tool, arguments).
"""

import json


def spoken_at(path):
    """The API that is spoken at an address."""
    if path.endswith("/messages"):
        return Messages
    if path.endswith("/responses"):
        return Responses
    if path.endswith("/chat/completions"):
        return Chat
    if path.endswith((":generateContent", ":streamGenerateContent")):
        return Gemini
    return None


def events(listed, named):
    """A stream of server-sent events."""
    lines = []
    for event in listed:
        name = "event: %s\n" % event["type"] if named else ""
        lines.append("%sdata: %s\n\n" % (name, event if isinstance(event, str) else json.dumps(event)))
    return "".join(lines)


def text_of(content):
    """The text of a result, whatever its shape."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(block.get("text", "") for block in content if isinstance(block, dict))
    return json.dumps(content)


class Messages:
    """Anthropic's Messages: Claude Code."""

    @staticmethod
    def wants_stream(_path, request):
        return bool(request.get("stream"))

    @staticmethod
    def tools(request):
        return {tool.get("name") for tool in request.get("tools") or []}

    @staticmethod
    def results(request):
        for message in request.get("messages", []):
            content = message.get("content")
            for block in content if isinstance(content, list) else []:
                if block.get("type") == "tool_result":
                    yield block["tool_use_id"], text_of(block.get("content"))

    @staticmethod
    def say(request, steps, stream):
        content = []
        for step in steps:
            if isinstance(step, str):
                content.append({"type": "text", "text": step})
            else:
                call, tool, arguments = step
                content.append({"type": "tool_use", "id": "toolu_" + call, "name": tool, "input": arguments})
        calls = any(block["type"] == "tool_use" for block in content)
        message = {
            "id": "msg_scripted", "type": "message", "role": "assistant", "model": request.get("model", "scripted"),
            "content": content, "stop_reason": "tool_use" if calls else "end_turn", "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
        return events(Messages.stream(message), named=True) if stream else json.dumps(message)

    @staticmethod
    def stream(message):
        yield {"type": "message_start", "message": dict(message, content=[], stop_reason=None)}
        for index, block in enumerate(message["content"]):
            if block["type"] == "text":
                start, delta = dict(block, text=""), {"type": "text_delta", "text": block["text"]}
            else:
                start = dict(block, input={})
                delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
            yield {"type": "content_block_start", "index": index, "content_block": start}
            yield {"type": "content_block_delta", "index": index, "delta": delta}
            yield {"type": "content_block_stop", "index": index}
        ending = {"stop_reason": message["stop_reason"], "stop_sequence": None}
        yield {"type": "message_delta", "delta": ending, "usage": {"output_tokens": 1}}
        yield {"type": "message_stop"}


class Responses:
    """OpenAI's Responses: Codex."""

    @staticmethod
    def wants_stream(_path, request):
        return bool(request.get("stream"))

    @staticmethod
    def tools(request):
        found = set()

        def add(tools, prefix=""):
            for tool in tools or []:
                if tool.get("type") == "namespace":
                    add(tool.get("tools"), tool.get("name", "") + ".")
                elif tool.get("name"):
                    found.add(prefix + tool["name"])

        add(request.get("tools"))
        for item in request.get("input") or []:
            if isinstance(item, dict) and item.get("type") == "additional_tools":
                add(item.get("tools"))
        return found

    @staticmethod
    def results(request):
        for item in request.get("input") or []:
            if isinstance(item, dict) and str(item.get("type", "")).endswith("_call_output"):
                yield item.get("call_id"), text_of(item.get("output"))

    @staticmethod
    def say(request, steps, stream):
        items = []
        for step in steps:
            if isinstance(step, str):
                content = [{"type": "output_text", "text": step, "annotations": []}]
                items.append({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
                              "content": content})
                continue
            call, tool, arguments = step
            item = {"id": "item_" + call, "call_id": "call_" + call, "status": "completed"}
            if isinstance(arguments, str):  # a free-form tool
                items.append(dict(item, type="custom_tool_call", name=tool, input=arguments))
            else:
                space, _, name = tool.rpartition(".")
                item = dict(item, type="function_call", name=name, arguments=json.dumps(arguments))
                items.append(dict(item, namespace=space) if space else item)
        usage = {"input_tokens": 1, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 1,
                 "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 2}
        response = {"id": "resp_scripted", "object": "response", "created_at": 0, "model": request.get("model")}
        done = dict(response, status="completed", output=items, usage=usage)
        if not stream:
            return json.dumps(done)
        listed = [{"type": "response.created", "response": dict(response, status="in_progress", output=[])}]
        for index, item in enumerate(items):
            listed.append({"type": "response.output_item.added", "output_index": index, "item": item})
            listed.append({"type": "response.output_item.done", "output_index": index, "item": item})
        listed.append({"type": "response.completed", "response": done})
        return events([dict(event, sequence_number=n) for n, event in enumerate(listed)], named=True)


class Chat:
    """OpenAI's Chat Completions: OpenCode, Copilot."""

    @staticmethod
    def wants_stream(_path, request):
        return bool(request.get("stream"))

    @staticmethod
    def tools(request):
        return {tool["function"]["name"] for tool in request.get("tools") or [] if "function" in tool}

    @staticmethod
    def results(request):
        for message in request.get("messages", []):
            if message.get("role") == "tool":
                yield message.get("tool_call_id"), text_of(message.get("content"))

    @staticmethod
    def say(request, steps, stream):
        text = "".join(step for step in steps if isinstance(step, str))
        calls = []
        for step in steps:
            if not isinstance(step, str):
                call, tool, arguments = step
                calls.append({"index": len(calls), "id": "call_" + call, "type": "function",
                              "function": {"name": tool, "arguments": json.dumps(arguments)}})
        message = {"role": "assistant", "content": text or None}
        if calls:
            message["tool_calls"] = calls
        reason = "tool_calls" if calls else "stop"
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        whole = {"id": "chat_scripted", "created": 0, "model": request.get("model", "scripted")}
        if not stream:
            choice = {"index": 0, "finish_reason": reason, "message": message}
            return json.dumps(dict(whole, object="chat.completion", choices=[choice], usage=usage))
        chunk = dict(whole, object="chat.completion.chunk")
        return events([
            dict(chunk, choices=[{"index": 0, "delta": message, "finish_reason": None}]),
            dict(chunk, choices=[{"index": 0, "delta": {}, "finish_reason": reason}], usage=usage),
            "[DONE]",
        ], named=False)


class Gemini:
    """Google's generateContent: Gemini CLI."""

    @staticmethod
    def wants_stream(path, _request):
        return path.endswith(":streamGenerateContent")

    @staticmethod
    def tools(request):
        return {declared["name"] for tool in request.get("tools") or []
                for declared in tool.get("functionDeclarations") or []}

    @staticmethod
    def results(request):
        for content in request.get("contents", []):
            for part in content.get("parts", []):
                answer = part.get("functionResponse") if isinstance(part, dict) else None
                if answer:
                    yield answer.get("id"), text_of(answer.get("response"))

    @staticmethod
    def say(request, steps, stream):
        parts = []
        for step in steps:
            if isinstance(step, str):
                parts.append({"text": step})
            else:
                call, tool, arguments = step
                parts.append({"functionCall": {"id": call, "name": tool, "args": arguments}, "thoughtSignature": "AA=="})
        wanted = request.get("generationConfig") or {}
        schema = wanted.get("responseJsonSchema") or wanted.get("responseSchema")
        if schema and not Gemini.tools(request):
            parts = [{"text": json.dumps(smallest(schema))}]
        answer = {
            "candidates": [{"index": 0, "content": {"role": "model", "parts": parts}, "finishReason": "STOP"}],
            "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
            "modelVersion": "scripted",
        }
        return events([answer], named=False) if stream else json.dumps(answer)


def smallest(schema):
    """A smallest value of a JSON schema, for side requests that want one."""
    if schema.get("enum"):
        return schema["enum"][0]
    kind = str(schema.get("type", "string")).lower()
    if kind == "object":
        return {key: smallest(value) for key, value in (schema.get("properties") or {}).items()}
    return {"array": [], "boolean": False, "number": 0, "integer": 0}.get(kind, "ok")
