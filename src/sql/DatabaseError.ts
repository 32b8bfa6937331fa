import * as Data from "effect/Data"
import * as Predicate from "effect/Predicate"
import type { DatabaseOutage } from "../domain/DatabaseOutage.ts"
import { messageOf, rootOf } from "../domain/RootCause.ts"

/** Another process has the data directory open; two processes would silently lose rows. */
export class DirectoryInUse extends Data.TaggedError("DirectoryInUse")<{
  /** The data directory. */
  readonly directory: string
}> {
  override get message() {
    return `the data directory ${this.directory} is in use by another process`
  }
}

/** How errors name the database of a URL. */
export const postgresName = "the PostgreSQL database"

/** The database could not be opened, or has stopped by itself. */
export class DatabaseFailed extends Data.TaggedError("DatabaseFailed")<{
  /** A directory, or `the PostgreSQL database`; never a URL, which may hold a password. */
  readonly database: string
  readonly cause: unknown
}> {
  override get message() {
    return `${this.database} failed: ${reasonOf(this.cause)}`
  }
}

const ownDatabase = "it holds something that is not the gateway's; give the gateway a database of its own"

const fullDisk = "its disk is full; free space there"

/** By SQLSTATE: what the operator can do, where the server's message does not say it. */
const advice: Readonly<Record<string, string>> = {
  "25006":
    "it is read-only; the gateway needs a primary server that takes writes: after a failover DATABASE_URL has to lead to the new one",
  "28P01": "correct user and password of DATABASE_URL",
  "3D000": "create it; the gateway makes its tables only",
  "42501": "the role has to own the gateway's tables, or be allowed to create them in the schema",
  "42703": ownDatabase,
  "42704": ownDatabase,
  "42710": ownDatabase,
  "42723": ownDatabase,
  "42804": ownDatabase,
  "42P01": ownDatabase,
  "42P07": ownDatabase,
  "42809": ownDatabase,
  "53100": fullDisk,
  "53200": "its server has no memory left; give it more, or let fewer connections use it",
  "53300":
    "all processes together open more connections than it allows; raise its limit, or lower DATABASE_POOL_SIZE (`maxConnections`)",
  "57014": "it took too long: the database is slow, or another transaction has a table locked",
  "55P03": "another transaction has it locked; end that one, or try again once it has ended",
  "57P03": "wait until it takes connections"
}

const notInTime =
  /^(?:timeout expired|timeout exceeded when trying to connect|Connection terminated due to connection timeout)$|\bETIMEDOUT\b/

/** The pool ends a connection that is not made in time, and names as the cause that it has ended. */
const isNotInTime = (error: unknown): boolean => error instanceof Error && notInTime.test(error.message)

/** By the message of Node, the driver or the server, where there is no SQLSTATE: what the operator can do. */
const adviceOnMessages: ReadonlyArray<readonly [RegExp, string]> = [
  [/\bENOSPC\b|No space left on device$/, fullDisk],
  [/\b(?:EACCES|EPERM|EROFS)\b/, "this user may not write there; permit it, or use another place"],
  [/\bENOTDIR\b/, "what it names is no directory"],
  [
    /^Connection terminated unexpectedly$/,
    "the server, or what is between, has closed the connection; the log of the server may say why"
  ],
  [/\bECONNREFUSED\b/, "nothing listens there; start the database, or correct host and port"],
  [/\b(?:ENOTFOUND|EAI_AGAIN)\b/, "the name of its host cannot be resolved; correct it, or look at the name server"],
  [notInTime, "no connection in time; look at host and port, at what is between, and at the load of the server"],
  [/^Query read timeout$/, "no answer in time; look at what is between, and at the load of the server"],
  [
    /^(?:self-signed certificate|unable to (?:verify|get))/,
    "name the certificate of its authority by sslrootcert=FILE in the URL or by NODE_EXTRA_CA_CERTS; sslmode=no-verify encrypts without checking who answers"
  ],
  [
    /^Hostname\/IP does not match/,
    "connect by a name that the certificate has; sslmode=no-verify encrypts without checking who answers"
  ],
  [
    /^The server does not support SSL/,
    "turn TLS on there; sslmode=disable connects without, for a network that nobody else is on"
  ],
  [/, no encryption$/, "where the server takes encrypted connections only, add sslmode=verify-full to the URL"]
]

/** The server's message, without the statement, its parameters or the URL. */
export const reasonOf = (error: unknown): string => {
  const root = rootOf(error, isNotInTime)
  const state = sqlStateOf(root)
  const message = messageOf(root)
  const reason = state === undefined ? message : `${message} (SQLSTATE ${state})`
  const todo = (state && advice[state]) ?? adviceOnMessages.find(([pattern]) => pattern.test(message))?.[1]
  return todo === undefined ? reason : `${reason}: ${todo}`
}

/** The kind of outage that an error shows. */
export const outageOf = (error: unknown): DatabaseOutage => {
  const state = sqlStateOf(error)
  if (state === undefined) return "unreachable"
  const known = outages.find(([pattern]) => pattern.test(state))
  return known === undefined ? "failed" : known[1]
}

/** By SQLSTATE; the first that matches. */
const outages: ReadonlyArray<readonly [RegExp, DatabaseOutage]> = [
  [/^53100$/, "disk_full"],
  [/^53300$/, "too_many_connections"],
  [/^25006$/, "read_only"],
  [/^57P0[1-3]$/, "starting"],
  [/^(?:28...|3D000|42501)$/, "access_denied"],
  [/^(?:40...|55P03|57014)$/, "delayed"],
  [/^08...$/, "unreachable"]
]

/** A row that another transaction has locked was waited for too long. */
export const lockNotAvailable = "55P03"

/** The server's SQLSTATE; none when the server was not reached. */
export const sqlStateOf = (error: unknown): string | undefined => {
  const root = rootOf(error)
  return Predicate.isRecord(root) && typeof root["code"] === "string"
    ? /^(?=.*\d)[0-9A-Z]{5}$/.exec(root["code"])?.[0]
    : undefined
}
