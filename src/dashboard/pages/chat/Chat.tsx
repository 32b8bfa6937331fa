import { loadedWhenShown } from "../../parts/loadedWhenShown.tsx"
import "./chat.css"
import { useParams, useSearch } from "@tanstack/react-router"
import { NewConversation } from "./NewConversation.tsx"
import { Sidebar } from "./Sidebar.tsx"
import { Thread } from "./Thread.tsx"

const Compare = loadedWhenShown(() => import("./Compare.tsx"))

/** Conversations with models, written by the service: closing the page ends none of them. */
const Chat = () => {
  const { conversationId } = useParams({ strict: false })
  const { artifact, with: other } = useSearch({ strict: false })
  return (
    <div className="chat">
      <Sidebar />
      {conversationId === undefined ? (
        <section className="chat-thread" aria-label="New conversation">
          <NewConversation />
        </section>
      ) : other === undefined || other === conversationId ? (
        <Thread key={conversationId} id={conversationId} artifactId={artifact} />
      ) : (
        <Compare key={`${conversationId} ${other}`} ids={[conversationId, other]} />
      )}
    </div>
  )
}

export default Chat
