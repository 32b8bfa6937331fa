import * as Schema from "effect/Schema"
import { SessionId, UserId } from "../../domain/Ids.ts"
import { pageOf } from "./Page.ts"
import { strict } from "./Strict.ts"
import { timestamp } from "./Times.ts"

export const CreateSessionRequest = strict({
  code: Schema.String.annotations({ description: "The code of a sign-in link, behind `#code=`; it works once." }),
  transport: Schema.Literal("cookie", "bearer").annotations({
    description: "cookie: for a browser, with a page token beside the cookie. bearer: for a script."
  })
}).annotations({ identifier: "CreateSessionRequest" })

export const CookieSession = Schema.Struct({
  csrf_token: Schema.String.annotations({
    description: "To be sent as `x-csrf-token` with every request that has the cookie; shown once."
  }),
  expires_at: timestamp("When the session ends at the latest; it ends earlier when it is not used for 12 hours.")
}).annotations({ identifier: "CookieSession" })

export const BearerSession = Schema.Struct({
  token: Schema.String.annotations({ description: "To be sent as `Authorization: Bearer <token>`; shown once." }),
  expires_at: timestamp("When the session ends at the latest; it ends earlier when it is not used for 12 hours.")
}).annotations({ identifier: "BearerSession" })

export const SessionOut = Schema.Struct({
  id: SessionId.annotations({ description: "Id of the session." }),
  user_id: UserId.annotations({ description: "The person who signed in." }),
  transport: Schema.Literal("cookie", "bearer").annotations({ description: "How the session's token is sent." }),
  is_current: Schema.Boolean.annotations({ description: "Whether this request was sent with it." }),
  address: Schema.String.annotations({ description: "Address from which the person signed in." }),
  user_agent: Schema.NullOr(Schema.String).annotations({ description: "`User-Agent` of the sign-in." }),
  created_at: timestamp("When the person signed in."),
  seen_at: timestamp("When it was used last, to a minute."),
  expires_at: timestamp("When it ends at the latest.")
}).annotations({ identifier: "SessionOut" })

export const SessionsPage = pageOf("SessionsPage", SessionOut)

export const SessionLink = Schema.Struct({
  url: Schema.String.annotations({ description: "A sign-in link for another browser; it works once." }),
  expires_at: timestamp("When the link ends.")
}).annotations({ identifier: "SessionLink" })
