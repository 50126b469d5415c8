from helpers import errors, extension


class HandleRepairableException(extension.Extension):
    async def execute(self, data: dict, **kwargs):
        if not self.agent or not isinstance(data["exception"], errors.RepairableException):
            return
        told = {"message": errors.format_error(data["exception"])}
        await extension.call_extensions_async("error_format", agent=self.agent, msg=told)
        warning = self.agent.hist_add_warning(told["message"])
        self.agent.context.log.log(type="warning", content=told["message"], id=warning.id)
        data["exception"] = None
