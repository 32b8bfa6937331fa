import * as Redacted from "effect/Redacted"
import { bedrockConverse } from "../../../../src/provider/protocols/bedrock-converse/BedrockConverse.ts"
import * as Auth from "../../../../src/provider/transport/Auth.ts"
import { awsSignature } from "../../../../src/provider/transport/AwsSignature.ts"
import { defaultIdentity, start } from "../../../../src/testing/simulators/bedrock/BedrockSimulator.ts"
import { protocolContract } from "../ProtocolContract.ts"
import { haiku, opus, sonnet } from "./bedrock.ts"

protocolContract({
  name: "bedrock-converse",
  start,
  protocol: bedrockConverse,
  auth: Auth.bearer,
  model: opus,
  reasoning: sonnet
})

protocolContract({
  name: "bedrock-converse, signed, with a budget",
  start,
  protocol: bedrockConverse,
  auth: () =>
    awsSignature(
      {
        accessKeyId: Redacted.make(defaultIdentity.accessKeyId),
        secretAccessKey: Redacted.make(defaultIdentity.secretAccessKey),
        sessionToken: null
      },
      { region: defaultIdentity.region, service: "bedrock" }
    ),
  model: haiku,
  reasoning: haiku
})
