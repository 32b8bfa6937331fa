import { createHash, createHmac } from "node:crypto"
import { createServer, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"

/** A bucket on loopback that takes only what is signed with its key, as the documents of Signature Version 4 describe it. */
export const startS3 = async () => {
  const identity = {
    bucket: "pictures",
    region: "eu-test-1",
    accessKeyId: "AKIATEST",
    secretAccessKey: "s3/secret+key"
  }
  const objects = new Map<string, Buffer>()
  const seen: Array<string> = []
  /** Statuses to answer with before anything else. */
  const failures: Array<number> = []
  /** Before an object is stored. */
  let beforePut = (): Promise<void> => Promise.resolve()
  const server = createServer(async (request, response) => {
    const parts: Array<Buffer> = []
    for await (const part of request) parts.push(part as Buffer)
    const body = Buffer.concat(parts)
    const refuse = (status: number, code: string) =>
      response.writeHead(status, { "content-type": "application/xml" }).end(`<Error><Code>${code}</Code></Error>`)
    const path = request.url ?? ""
    const fault = refusalOf(request, body, identity)
    seen.push(`${request.method} ${path} ${fault ?? "signed"}`)
    const failure = failures.shift()
    if (failure !== undefined) return refuse(failure, "InternalError")
    if (fault !== undefined) return refuse(403, fault)
    if (!path.startsWith(`/${identity.bucket}/`)) return refuse(404, "NoSuchBucket")
    const found = objects.get(path)
    if (request.method === "PUT") {
      await beforePut()
      objects.set(path, body)
      return response.writeHead(200).end()
    }
    if (request.method === "DELETE") {
      objects.delete(path)
      return response.writeHead(204).end()
    }
    return found === undefined ? refuse(404, "NoSuchKey") : response.writeHead(200).end(found)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    endpoint,
    ...identity,
    objects,
    seen,
    failures,
    beforePut: (wait: () => Promise<void>) => {
      beforePut = wait
    },
    env: {
      S3_ENDPOINT: endpoint,
      S3_BUCKET: identity.bucket,
      S3_REGION: identity.region,
      S3_ACCESS_KEY_ID: identity.accessKeyId,
      S3_SECRET_ACCESS_KEY: identity.secretAccessKey
    },
    stop: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      })
  }
}

interface Identity {
  readonly region: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
}

const refusalOf = (request: IncomingMessage, body: Buffer, identity: Identity): string | undefined => {
  const given =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})$/.exec(
      request.headers.authorization ?? ""
    )
  if (given === null) return "AuthorizationHeaderMalformed"
  const [, keyId, day = "", region = "", names = "", signature] = given
  if (keyId !== identity.accessKeyId) return "InvalidAccessKeyId"
  if (region !== identity.region) return "AuthorizationHeaderMalformed"
  const time = String(request.headers["x-amz-date"])
  if (Math.abs(Date.parse(isoOf(time)) - Date.now()) > 900_000) return "RequestTimeTooSkewed"
  const hash = createHash("sha256").update(body).digest("hex")
  if (request.headers["x-amz-content-sha256"] !== hash) return "XAmzContentSHA256Mismatch"
  const needed = ["host", ...Object.keys(request.headers).filter((name) => name.startsWith("x-amz-"))]
  if (needed.some((name) => !names.split(";").includes(name))) return "AccessDenied"
  const [path = "", query = ""] = (request.url ?? "").split("?", 2)
  const headers = names.split(";").map((name) => `${name}:${String(request.headers[name])}\n`)
  const canonical = [request.method, path, query, headers.join(""), names, hash].join("\n")
  const scope = `${day}/${region}/s3/aws4_request`
  const text = ["AWS4-HMAC-SHA256", time, scope, createHash("sha256").update(canonical).digest("hex")].join("\n")
  let key = Buffer.from(`AWS4${identity.secretAccessKey}`)
  for (const part of scope.split("/")) key = createHmac("sha256", key).update(part).digest()
  return createHmac("sha256", key).update(text).digest("hex") === signature ? undefined : "SignatureDoesNotMatch"
}

/** Of `20130524T000000Z`. */
const isoOf = (time: string): string => time.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z")
