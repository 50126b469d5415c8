import asyncio
import json

from helpers import parallel_tools
from helpers.tool import Response, Tool


class Parallel(Tool):
    """`tool_calls`: ordinary tool calls, run at the same time; failures are told in the result."""

    async def execute(self, tool_calls=None, **kwargs):
        calls = json.loads(tool_calls) if isinstance(tool_calls, str) else tool_calls or []
        jobs = [
            parallel_tools.run_tool_job(self.agent, call["tool_name"], dict(call["tool_args"]))
            for call in calls
        ]
        results = await asyncio.gather(*jobs, return_exceptions=True)
        told = [
            {"error": str(one)} if isinstance(one, Exception) else {"result": one}
            for one in results
        ]
        return Response(message=json.dumps({"jobs": told}, ensure_ascii=False), break_loop=False)
