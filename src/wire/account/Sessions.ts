import * as Schema from "effect/Schema"
import { SessionId, UserId } from "../../domain/Ids.ts"
import { pageOf } from "./Page.ts"
import { strict } from "./Strict.ts"
import { timestamp } from "./Times.ts"

export const CreateSessionRequest = strict({
  code: Schema.String.annotations({ description: "The code of a sign-in link, after `#code=`; valid once." }),
  transport: Schema.Literal("cookie", "bearer").annotations({
    description: "cookie: for browsers, with a CSRF token in addition to the cookie. bearer: for scripts."
  })
}).annotations({ identifier: "CreateSessionRequest" })

export const CookieSession = Schema.Struct({
  csrf_token: Schema.String.annotations({
    description: "Send as `x-csrf-token` with every request that has the cookie; shown only once."
  }),
  expires_at: timestamp("When the session expires at the latest; it expires earlier if it is not used for 12 hours.")
}).annotations({ identifier: "CookieSession" })

export const BearerSession = Schema.Struct({
  token: Schema.String.annotations({ description: "Send as `Authorization: Bearer <token>`; shown only once." }),
  expires_at: timestamp("When the session expires at the latest; it expires earlier if it is not used for 12 hours.")
}).annotations({ identifier: "BearerSession" })

export const SessionOut = Schema.Struct({
  id: SessionId.annotations({ description: "Id of the session." }),
  user_id: UserId.annotations({ description: "The user who signed in." }),
  transport: Schema.Literal("cookie", "bearer").annotations({ description: "How the session's token is sent." }),
  is_current: Schema.Boolean.annotations({ description: "Whether this request was sent with this session." }),
  address: Schema.String.annotations({ description: "Client address of the sign-in." }),
  user_agent: Schema.NullOr(Schema.String).annotations({ description: "`User-Agent` of the sign-in." }),
  created_at: timestamp("When the user signed in."),
  seen_at: timestamp("When it was last used, to the minute."),
  expires_at: timestamp("When it expires at the latest.")
}).annotations({ identifier: "SessionOut" })

export const SessionsPage = pageOf("SessionsPage", SessionOut)

export const SessionLink = Schema.Struct({
  url: Schema.String.annotations({ description: "A sign-in link for another browser; valid once." }),
  expires_at: timestamp("When the link expires.")
}).annotations({ identifier: "SessionLink" })
