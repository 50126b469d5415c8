import asyncio
import json

from helpers import parallel_tools
from helpers.tool import Response, Tool


class Parallel(Tool):
    """`tool_calls`: ordinary tool calls, run at the same time."""

    async def execute(self, **kwargs):
        jobs = []
        calls = parallel_tools.extract_tool_calls(kwargs)
        for call in parallel_tools.normalize_parallel_tool_calls(calls):
            if call.tool_name == "call_subordinate":
                jobs.append(parallel_tools.run_subordinate_job(self.agent, call.tool_args))
            else:
                jobs.append(parallel_tools.run_tool_job(self.agent, call.tool_name, call.tool_args))
        results = await asyncio.gather(*jobs)
        return Response(message=json.dumps({"jobs": results}), break_loop=False)
