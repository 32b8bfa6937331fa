import * as Redacted from "effect/Redacted"
import * as Auth from "../../src/provider/Auth.ts"
import { awsSignature } from "../../src/provider/AwsSignature.ts"
import { bedrockConverse } from "../../src/provider/protocols/BedrockConverse.ts"
import { start, usualIdentity } from "../../src/testing/simulators/BedrockSimulator.ts"
import { haiku, opus, sonnet } from "./bedrock.ts"
import { protocolContract } from "./ProtocolContract.ts"

protocolContract({
  name: "bedrock-converse",
  start,
  protocol: bedrockConverse,
  auth: Auth.bearer,
  model: opus,
  thinking: sonnet
})

protocolContract({
  name: "bedrock-converse, signed, with a budget",
  start,
  protocol: bedrockConverse,
  auth: () =>
    awsSignature(
      {
        accessKeyId: Redacted.make(usualIdentity.accessKeyId),
        secretAccessKey: Redacted.make(usualIdentity.secretAccessKey),
        sessionToken: null
      },
      { region: usualIdentity.region, service: "bedrock" }
    ),
  model: haiku,
  thinking: haiku
})
