import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { type JWTPayload, type JWTVerifyGetKey, jwtVerify } from "jose"
import { dateAt } from "../../domain/Dates.ts"
import { isStorable, toStorable } from "../../domain/StorableText.ts"
import { leewaySeconds, type OidcOptions } from "./OidcOptions.ts"

/** Signatures by keys that only the issuer has: neither `none` nor an HMAC, whose key would be a public one. */
const algorithms = ["RS256", "PS256", "ES256", "EdDSA"]

export interface TokenExpectations {
  readonly issuer: string
  readonly audience: string
  readonly nowMillis: number
}

/**
 * The claims of a token that the issuer has signed; `kid` selects one of the given keys, and no header brings another. Rejects with an
 * error of `jose` otherwise.
 */
export const verified = async (
  token: string,
  keys: JWTVerifyGetKey,
  { audience, issuer, nowMillis }: TokenExpectations
): Promise<JWTPayload> => {
  const { payload } = await jwtVerify(token, keys, {
    algorithms,
    issuer,
    audience,
    requiredClaims: ["sub", "exp", "iat"],
    clockTolerance: leewaySeconds,
    currentDate: dateAt(nowMillis)
  })
  // without a bound on the age of tokens jose does not look at it
  if (Number(payload.iat) > nowMillis / 1_000 + leewaySeconds) throw new IssuedInFuture()
  return payload
}

export class IssuedInFuture extends Error {
  override readonly message = "it was issued in the future"
}

/** A person as the issuer knows them. */
export interface IssuerPerson {
  readonly issuer: string
  readonly subject: string
  readonly name: string
  readonly isOperator: boolean
}

const Claims = Schema.Struct({
  sub: Schema.String.pipe(Schema.minLength(1), Schema.maxLength(255), Schema.filter(isStorable))
})
const isText = Schema.is(Schema.NonEmptyTrimmedString)
const claimsOf = Schema.decodeUnknownOption(Claims)
const maxNameCharacters = 200

/** `undefined` where the subject is none that can be stored. */
export const personOf = (
  claims: JWTPayload,
  { issuer, operator }: Pick<OidcOptions, "issuer" | "operator">
): IssuerPerson | undefined =>
  Option.getOrUndefined(
    Option.map(claimsOf(claims), ({ sub }) => ({
      issuer,
      subject: sub,
      name: nameOf(claims, sub),
      isOperator: operator !== null && hasValue(claims[operator.claim], operator.value)
    }))
  )

const nameOf = (claims: JWTPayload, subject: string): string => {
  const given = [claims["name"], claims["preferred_username"], claims["email"]].find(isText)
  return [...toStorable(given ?? subject)].slice(0, maxNameCharacters).join("")
}

/** Roles and groups are lists, other claims single values. */
const hasValue = (claim: unknown, value: string): boolean =>
  Array.isArray(claim)
    ? claim.some((one) => hasValue(one, value))
    : (typeof claim === "string" || typeof claim === "number" || typeof claim === "boolean") && String(claim) === value
