# added to libagent by src/agent/local.mk
