import asyncio
import json

from helpers import parallel_tools
from helpers.tool import Response, Tool


class Parallel(Tool):
    """`tool_calls`: ordinary tool calls, run at the same time."""

    async def execute(self, tool_calls=None, **kwargs):
        jobs = []
        for call in tool_calls:
            job = parallel_tools.run_tool_job(self.agent, call["tool_name"], call["tool_args"])
            jobs.append(job)
        results = await asyncio.gather(*jobs)
        return Response(message=json.dumps({"jobs": results}), break_loop=False)
