#!/usr/bin/env node
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as Effect from "effect/Effect"
import * as CommandLine from "./app/command/CommandLine.ts"
import * as Process from "./app/Process.ts"

Process.run(Effect.provide(CommandLine.run(process.argv.slice(2)), NodeFileSystem.layer))
