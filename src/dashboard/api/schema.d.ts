// Made by `npm run client-types` of the OpenAPI document; do not edit.

export interface paths {
    "/api/admin/accounts/{id}/balance": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["billing.getAnyBalance"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/admin/accounts/{id}/credits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["billing.createCredit"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/admin/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["keys.createAnyKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/admin/projects": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["admin.listAllProjects"];
        put?: never;
        post: operations["admin.createProject"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/admin/users": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["admin.listUsers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/analyses/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["analyses.getAnalysis"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/analyses/{id}/actions/{action_id}/apply": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["analyses.applyAnalysisAction"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/analyses/{id}/actions/{action_id}/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["analyses.previewAnalysisAction"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/analyses/{id}/actions/{action_id}/undo": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["analyses.undoAnalysisAction"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/analyses/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["analyses.cancelAnalysis"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/analyses/{id}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["analyses.replayAnalysis"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["audit.listAuditRows"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/capture/samples/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["capture.getCaptureSample"];
        put?: never;
        post?: never;
        delete: operations["capture.deleteCaptureSample"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/chat/conversations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["chat.listConversations"];
        put?: never;
        post: operations["chat.createConversation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/chat/conversations/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["chat.getConversation"];
        put?: never;
        post?: never;
        delete: operations["chat.deleteConversation"];
        options?: never;
        head?: never;
        patch: operations["chat.updateConversation"];
        trace?: never;
    };
    "/api/chat/conversations/{id}/artifacts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["chat.saveArtifact"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/chat/conversations/{id}/artifacts/{artifact_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: operations["chat.deleteArtifact"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/chat/conversations/{id}/artifacts/{artifact_id}/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["chat.restoreArtifact"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/chat/conversations/{id}/artifacts/{artifact_id}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["chat.listArtifactVersions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/chat/conversations/{id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["chat.followConversation"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/chat/conversations/{id}/fork": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["chat.forkConversation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/chat/conversations/{id}/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["chat.sendMessage"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/chat/conversations/{id}/messages/{message_id}/edit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["chat.editMessage"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/chat/conversations/{id}/messages/{message_id}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["chat.retryMessage"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/chat/conversations/{id}/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["chat.restoreConversation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/chat/conversations/{id}/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["chat.stopConversation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/chat/images": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["chat.uploadChatImage"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/chat/models": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["chat.listChatModels"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/chat/projects": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["chat.listChatProjects"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/credentials/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["credentials.getCredential"];
        put?: never;
        post?: never;
        delete: operations["credentials.deleteCredential"];
        options?: never;
        head?: never;
        patch: operations["credentials.updateCredential"];
        trace?: never;
    };
    "/api/credentials/{id}/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["credentials.verifyCredential"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/keys/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["keys.getKey"];
        put?: never;
        post?: never;
        delete: operations["keys.deleteKey"];
        options?: never;
        head?: never;
        patch: operations["keys.updateKey"];
        trace?: never;
    };
    "/api/keys/{id}/revoke": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["keys.revokeKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/keys/{id}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["keys.rotateKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["projects.getMe"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/me/balance": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["billing.getBalance"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/me/checkout": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["payments.createCheckout"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/me/checkout/{session_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["payments.getCheckout"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/me/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["keys.listMyKeys"];
        put?: never;
        post: operations["keys.createMyKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/me/ledger": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["billing.listLedger"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/me/payments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["payments.listPayments"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/me/projects": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["projects.listMyProjects"];
        put?: never;
        post: operations["projects.createMyProject"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/models": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["routing.listCatalog"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/projects/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["projects.getProject"];
        put?: never;
        post?: never;
        delete: operations["projects.deleteProject"];
        options?: never;
        head?: never;
        patch: operations["projects.updateProject"];
        trace?: never;
    };
    "/api/projects/{id}/activity": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["activity.getActivity"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/projects/{id}/alerts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["alerts.getAlerts"];
        put: operations["alerts.setAlerts"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/projects/{id}/alpha-curve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["policy.getAlphaCurve"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/projects/{id}/analyses": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["analyses.listAnalyses"];
        put?: never;
        post: operations["analyses.createAnalysis"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/projects/{id}/analyses/estimate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["analyses.estimateAnalysis"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/projects/{id}/billing-mode": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["credentials.getBillingMode"];
        put: operations["credentials.setBillingMode"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/projects/{id}/capture": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["capture.getCapture"];
        put: operations["capture.putCapture"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/projects/{id}/capture/erase": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["capture.eraseCapture"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/projects/{id}/capture/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["capture.exportCapture"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/projects/{id}/capture/samples": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["capture.listCaptureSamples"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/projects/{id}/chat/completions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["inference.createProjectChatCompletion"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/projects/{id}/credentials": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["credentials.listCredentials"];
        put?: never;
        post: operations["credentials.createCredential"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/projects/{id}/in-flight": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["billing.listInFlight"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/projects/{id}/in-flight/{request_id}/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["billing.stopInFlight"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/projects/{id}/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["keys.listKeys"];
        put?: never;
        post: operations["keys.createKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/projects/{id}/members": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["members.listMembers"];
        put?: never;
        post: operations["members.addMember"];
        delete: operations["members.removeMember"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/projects/{id}/policy": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["policy.getPolicy"];
        put: operations["policy.putPolicy"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/projects/{id}/policy/simulate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["policy.simulatePolicy"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/projects/{id}/refusals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["requests.listRefusals"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/projects/{id}/requests": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["requests.listRequests"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/projects/{id}/route": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["routing.previewRoute"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/projects/{id}/routing-configurations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["routing.listRoutingConfigurations"];
        put?: never;
        post: operations["routing.createRoutingConfiguration"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/projects/{id}/routing-configurations/{slug}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["routing.getRoutingConfiguration"];
        put: operations["routing.putRoutingConfiguration"];
        post?: never;
        delete: operations["routing.deleteRoutingConfiguration"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/projects/{id}/routing-configurations/{slug}/activate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["routing.activateRoutingVersion"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/projects/{id}/routing-configurations/{slug}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["routing.listRoutingVersions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/projects/{id}/savings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["activity.getSavings"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/requests/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["requests.getRequest"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["session.getSession"];
        put?: never;
        post: operations["session.createSession"];
        delete: operations["session.deleteSession"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/session/links": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["session.createSessionLink"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/session/oidc/callback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["oidc.finishOidc"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/session/oidc/start": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["oidc.startOidc"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["session.listSessions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: operations["session.revokeSession"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        ActionPreview: {
            action_id: string;
            after: {
                alpha?: number | null;
                default_alpha?: number | null;
                excluded_models?: string[] | null;
            } | null;
            becomes_empty: string[];
            before: {
                alpha?: number | null;
                default_alpha?: number | null;
                excluded_models?: string[] | null;
            } | null;
            config_version: components["schemas"]["Int"] | null;
            /** @enum {string} */
            kind: "policy" | "routing_configuration" | "client_hint";
            managed_by_configuration: boolean;
            replay: components["schemas"]["PolicyReplayOut"] | null;
            text: string | null;
        };
        ActivateVersionRequest: {
            version: number;
        };
        ActivityByKeyOut: {
            count: components["schemas"]["NonNegative"];
            /** Format: uuid */
            key_id: string;
            name: string | null;
            spend_microusd: components["schemas"]["NonNegative"];
            tokens: components["schemas"]["NonNegative"];
        };
        ActivityByModelOut: {
            count: components["schemas"]["NonNegative"];
            model: string;
            spend_microusd: components["schemas"]["NonNegative"];
            tokens: components["schemas"]["NonNegative"];
        };
        ActivityByProviderOut: {
            count: components["schemas"]["NonNegative"];
            provider: string;
        };
        ActivityDataOut: {
            by_key: components["schemas"]["ActivityByKeyOut"][];
            by_model: components["schemas"]["ActivityByModelOut"][];
            by_provider: components["schemas"]["ActivityByProviderOut"][];
            /** @enum {string} */
            granularity: "day" | "hour";
            summary: components["schemas"]["ActivitySummaryOut"];
            timeseries: components["schemas"]["ActivityTimeseriesPointOut"][];
        };
        ActivitySummaryOut: {
            error_rate_pct: number;
            requests_24h: components["schemas"]["NonNegative"];
            spend_24h_microusd: components["schemas"]["NonNegative"];
            tokens_24h: components["schemas"]["NonNegative"];
        };
        ActivityTimeseriesPointOut: {
            date: string;
            requests: components["schemas"]["NonNegative"];
            spend_microusd: components["schemas"]["NonNegative"];
        };
        AdminProjectOut: {
            /** Format: uuid */
            account_id: string;
            allowed_models: string[] | null;
            allowed_providers: string[] | null;
            /** @enum {string} */
            billing_mode: "managed" | "byok";
            /** Format: date-time */
            created_at: string;
            default_alpha: number | null;
            enable_fallback: boolean;
            excluded_models: string[] | null;
            excluded_providers: string[] | null;
            /** Format: uuid */
            id: string;
            max_input_price_microusd_per_million: components["schemas"]["Int"] | null;
            max_output_price_microusd_per_million: components["schemas"]["Int"] | null;
            name: string;
            spend_limit_microusd: components["schemas"]["Int"] | null;
            total_spent_microusd: number;
            /** Format: date-time */
            updated_at: string;
            /** Format: uuid */
            user_id: string;
        };
        AdminProjectsPage: {
            has_more: boolean;
            items: components["schemas"]["AdminProjectOut"][];
            next_cursor: string | null;
        };
        AlertEventOut: {
            delivery: {
                attempts: components["schemas"]["NonNegative"];
                delivered_at: string | null;
                last_error: string | null;
                /** @enum {string} */
                status: "pending" | "delivered" | "failed" | "not_sent";
            };
            /** Format: date-time */
            fired_at: string;
            /** Format: uuid */
            id: string;
            limit_microusd: components["schemas"]["NonNegativeInt"] | null;
            period_start: string | null;
            spent_microusd: components["schemas"]["NonNegative"];
            threshold: components["schemas"]["AlertThreshold"];
        };
        AlertsOut: {
            events: components["schemas"]["AlertEventOut"][];
            thresholds: components["schemas"]["AlertThreshold"][];
            webhook_secret: string | null;
            webhook_url: string | null;
        };
        AlertThreshold: {
            percent: number;
            /** @enum {string} */
            type: "limit_percent";
        } | {
            amount_microusd: number;
            /** @enum {string} */
            period: "day" | "week" | "month";
            /** @enum {string} */
            type: "spend";
        };
        AlphaCurveOut: {
            calls: components["schemas"]["NonNegative"];
            charged_microusd: components["schemas"]["NonNegative"];
            current: {
                expected_cost_microusd: components["schemas"]["NonNegative"];
                expected_quality: number | null;
                models: {
                    count: components["schemas"]["NonNegative"];
                    model: string;
                }[];
                without_model: components["schemas"]["NonNegative"];
            };
            default_alpha: number;
            from: string | null;
            points: {
                alpha: number;
                expected_cost_microusd: components["schemas"]["NonNegative"];
                expected_quality: number | null;
                models: {
                    count: components["schemas"]["NonNegative"];
                    model: string;
                }[];
                without_model: components["schemas"]["NonNegative"];
            }[];
            skipped: components["schemas"]["NonNegative"];
            to: string | null;
        };
        AnalysesPage: {
            has_more: boolean;
            items: components["schemas"]["AnalysisSummary"][];
            next_cursor: string | null;
        };
        AnalysisAction: {
            canary?: {
                days: number;
                share: number;
            } | null;
            id: string;
            /** @enum {string} */
            kind: "policy" | "routing_configuration" | "client_hint";
            /** @enum {string} */
            owner: "client" | "gateway" | "provider";
            patch: {
                body: {
                    alpha: number | null;
                };
                /** @enum {string} */
                method: "PUT";
                path: string;
                slug: string;
            } | {
                body: {
                    default_alpha?: number | null;
                    excluded_models?: string[];
                };
                /** @enum {string} */
                method: "PUT";
                path: string;
            } | {
                text: string;
            };
            receipt: components["schemas"]["Receipt"] | null;
            risk: string;
            saving: {
                at_least: components["schemas"]["NonNegativeInt"] | null;
                likely: components["schemas"]["NonNegative"];
            };
            title: string;
            undo: {
                text: string;
            };
        };
        AnalysisDetail: {
            actions_taken: {
                action_id: string;
                after: {
                    alpha?: number | null;
                    default_alpha?: number | null;
                    excluded_models?: string[] | null;
                } | null;
                /** Format: date-time */
                applied_at: string;
                before: {
                    alpha?: number | null;
                    default_alpha?: number | null;
                    excluded_models?: string[] | null;
                } | null;
                /** @enum {string} */
                kind: "policy" | "routing_configuration" | "client_hint";
                undone_at: string | null;
            }[];
            /** Format: date-time */
            created_at: string;
            error: string | null;
            finished_at: string | null;
            /** Format: uuid */
            id: string;
            progress: {
                done: components["schemas"]["NonNegative"];
                /** @enum {string} */
                phase: "select" | "load" | "static" | "plan" | "replay" | "report";
                total: components["schemas"]["NonNegative"];
            } | null;
            /** Format: uuid */
            project_id: string;
            /** Format: date-time */
            range_end: string;
            /** Format: date-time */
            range_start: string;
            report: components["schemas"]["AnalysisReport"] | null;
            requested_count: components["schemas"]["NonNegative"];
            sample_count: components["schemas"]["NonNegative"];
            status: string;
        };
        AnalysisEstimate: {
            calls: components["schemas"]["NonNegative"];
            conversations: components["schemas"]["NonNegative"];
            cost: {
                amount_microusd: components["schemas"]["Int"];
                /** @enum {string} */
                basis: "charged" | "estimated";
                /**
                 * @default USD
                 * @enum {string}
                 */
                currency: "USD";
            };
            traffic: {
                calls: components["schemas"]["NonNegative"];
                spent_microusd: components["schemas"]["NonNegative"];
            };
        };
        AnalysisReport: {
            actions: components["schemas"]["AnalysisAction"][];
            alpha_curve?: {
                alpha: number;
                /** @enum {string} */
                basis: "measured" | "prior";
                cost_microusd: components["schemas"]["NonNegative"];
                models: {
                    [key: string]: number;
                };
                quality: number | null;
            }[];
            causes: {
                action_id: string | null;
                alone_microusd: components["schemas"]["NonNegative"];
                at_least_microusd: components["schemas"]["NonNegativeInt"] | null;
                calls: components["schemas"]["NonNegative"];
                confidence: number;
                conversations: components["schemas"]["NonNegative"];
                evidence: {
                    at: {
                        message: components["schemas"]["Int"] | null;
                    };
                    /** Format: uuid */
                    sample_id: string;
                }[];
                false_positive_if: string;
                figures: {
                    [key: string]: number;
                };
                id: string;
                number: components["schemas"]["NonNegative"];
                /** @enum {string} */
                owner: "client" | "gateway" | "provider";
                share_microusd: components["schemas"]["NonNegative"];
                /** @enum {string} */
                tier: "exact" | "rebilled" | "hypothesis" | "info";
                title: string;
            }[];
            headline: {
                hypotheses_microusd_up_to: components["schemas"]["NonNegative"];
                observed: {
                    avoidable_microusd: components["schemas"]["NonNegative"];
                    spent_microusd: components["schemas"]["NonNegative"];
                };
                projected: {
                    at_least_microusd: components["schemas"]["NonNegative"];
                    confidence: number;
                    likely: [
                        components["schemas"]["NonNegativeInt"],
                        components["schemas"]["NonNegativeInt"]
                    ] | null;
                    method: string;
                    monthly_microusd: components["schemas"]["NonNegative"];
                } | null;
            };
            honesty: {
                assumptions: string[];
                insufficient: {
                    have: number;
                    need: number;
                    what: string;
                }[];
                not_looked_at: string[];
                past_receipts?: {
                    n: components["schemas"]["NonNegative"];
                    realised_over_estimated: number | null;
                };
            };
            method: {
                cost: components["schemas"]["Cost"];
                judge?: string | null;
                seed: number;
            };
            reliability: {
                attempts_wasted_ms: number;
                cancelled_microusd: components["schemas"]["NonNegative"];
                held_idle_microusd_hours: number;
            };
            scope: {
                calls_covered: components["schemas"]["NonNegative"];
                config_versions: components["schemas"]["Int"][];
                conversations: components["schemas"]["NonNegative"];
                covered_microusd: components["schemas"]["NonNegative"];
                effective_conversations: number;
                excluded: {
                    count: components["schemas"]["NonNegative"];
                    reason: string;
                }[];
                from: string;
                model_error: {
                    reads_explained: number;
                    route: string;
                    share: number;
                }[];
                samples: components["schemas"]["NonNegative"];
                /** @enum {string} */
                source: "captured" | "call_log";
                to: string;
                traffic: {
                    calls: components["schemas"]["NonNegative"];
                    opted_in?: {
                        calls: components["schemas"]["NonNegative"];
                        spent_microusd: components["schemas"]["NonNegative"];
                    };
                    spent_microusd: components["schemas"]["NonNegative"];
                };
            };
            segments?: {
                calls: components["schemas"]["NonNegative"];
                /** @enum {string} */
                class: "code" | "math" | "reasoning" | "knowledge" | "extraction" | "chat" | "translation" | "tool_use" | "long_context" | "vision";
                questions: {
                    candidate: string;
                    cost_to_know_microusd: components["schemas"]["NonNegativeInt"] | null;
                    delta: number;
                    e_value: number;
                    failed?: components["schemas"]["NonNegativeInt"];
                    incumbent: string;
                    left_out?: components["schemas"]["NonNegativeInt"];
                    losses: components["schemas"]["NonNegative"];
                    mean: number;
                    pairs: components["schemas"]["NonNegative"];
                    pairs_needed: components["schemas"]["NonNegativeInt"] | null;
                    placebo_mean: number | null;
                    saving_per_call_microusd: components["schemas"]["NonNegative"];
                    sensitivity_lo: number;
                    ties: components["schemas"]["NonNegative"];
                    /** @enum {string} */
                    verdict: "not_worse" | "worse" | "insufficient_data" | "judge_unfit" | "judge_biased" | "stopped_by_cap";
                    wins: components["schemas"]["NonNegative"];
                }[];
                served: {
                    cache_read_tokens: components["schemas"]["NonNegative"];
                    cache_write_tokens: components["schemas"]["NonNegative"];
                    calls: components["schemas"]["NonNegative"];
                    conversations: components["schemas"]["NonNegative"];
                    cost_p50_microusd: components["schemas"]["NonNegative"];
                    first_content_p50_ms: number | null;
                    input_tokens: components["schemas"]["NonNegative"];
                    model: string;
                    output_tokens: components["schemas"]["NonNegative"];
                    spent_microusd: components["schemas"]["NonNegative"];
                }[];
                spent_microusd: components["schemas"]["NonNegative"];
            }[];
            /** @enum {number} */
            version: 1;
        };
        AnalysisSummary: {
            /** Format: date-time */
            created_at: string;
            error: string | null;
            finished_at: string | null;
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            project_id: string;
            /** Format: date-time */
            range_end: string;
            /** Format: date-time */
            range_start: string;
            requested_count: components["schemas"]["NonNegative"];
            sample_count: components["schemas"]["NonNegative"];
            status: string;
        };
        ApiKeyOut: {
            /** Format: date-time */
            created_at: string;
            expires_at: string | null;
            /** Format: uuid */
            id: string;
            is_active: boolean;
            key_prefix: string;
            /** @enum {string} */
            kind: "secret" | "dashboard";
            last_used_at: string | null;
            limit_reset: ("day" | "week" | "month") | null;
            name: string;
            previous_secret_until: string | null;
            /** Format: uuid */
            project_id: string;
            rate_limits: components["schemas"]["RateLimits"] | null;
            revoked_at: string | null;
            spend_limit_microusd: components["schemas"]["Int"] | null;
            spent_microusd: number;
            total_spent_microusd: number;
        };
        ApiKeysPage: {
            items: components["schemas"]["ApiKeyOut"][];
            limit: number;
            page: number;
            total: number;
        };
        ApplyAction: {
            canary?: {
                days: number;
                share: number;
            } | null;
            config_version?: number | null;
        };
        Attempt: {
            cost: components["schemas"]["Cost"];
            error: components["schemas"]["CallError"] | null;
            latency_ms: number;
            model: string;
            provider: string;
            /** @enum {string} */
            status: "success" | "error" | "timeout" | "cancelled";
        };
        AuditPage: {
            has_more: boolean;
            items: components["schemas"]["AuditRowOut"][];
            next_cursor: string | null;
        };
        AuditRowOut: {
            action: string;
            actor_name: string | null;
            actor_user_id: string | null;
            address: string | null;
            after: {
                [key: string]: unknown;
            } | null;
            /** Format: date-time */
            at: string;
            before: {
                [key: string]: unknown;
            } | null;
            hash: string;
            /** Format: uuid */
            id: string;
            position: number;
            request_id: string | null;
            target_id: string;
            target_kind: string;
        };
        BalanceOut: {
            available_microusd: number;
            credited_microusd: number;
            held_microusd: number;
            spent_microusd: number;
        };
        BaselineOut: {
            amount_microusd: components["schemas"]["NonNegative"];
            model: string;
        };
        BillingModeInput: {
            /** @enum {string} */
            billing_mode: "managed" | "byok";
        };
        CallError: {
            code: string;
            message: string | null;
        };
        CandidatePool: {
            models: string[];
        };
        CapturedAttempt: {
            cost: components["schemas"]["Cost"];
            error: components["schemas"]["CallError"] | null;
            latency_ms: number;
            model: string;
            provider: string;
            /** Format: date-time */
            started_at: string;
            /** @enum {string} */
            status: "success" | "error" | "timeout" | "cancelled";
            usage: components["schemas"]["CapturedUsage"] | null;
        };
        CapturedBlock: {
            bytes: components["schemas"]["NonNegative"];
            cache_mark: ("5m" | "1h") | null;
            canonical_id: string;
            id: string;
            /** @enum {string} */
            kind: "tool" | "system" | "user" | "assistant" | "tool_result";
            looks: ("json" | "json_pretty" | "base64" | "markup")[];
            tool: string | null;
        };
        CapturedMedia: {
            bytes: components["schemas"]["NonNegativeInt"] | null;
            id: string;
            media_type: string | null;
            pixels: {
                height: components["schemas"]["NonNegative"];
                width: components["schemas"]["NonNegative"];
            } | null;
            /** @enum {string} */
            type: "image" | "audio" | "file";
        };
        CapturedUsage: {
            cache_read_tokens: components["schemas"]["NonNegative"];
            cache_write_tokens: components["schemas"]["NonNegative"];
            input_tokens: components["schemas"]["NonNegative"];
            output_tokens: components["schemas"]["NonNegative"];
            reasoning_tokens: components["schemas"]["NonNegative"];
        };
        CaptureSample: {
            flow_authorized: boolean;
            /** Format: uuid */
            id: string;
            sample: components["schemas"]["Sample"];
        };
        CaptureSamplesPage: {
            has_more: boolean;
            items: components["schemas"]["CaptureSample"][];
            next_cursor: string | null;
        };
        CaptureSettings: {
            config_version: components["schemas"]["NonNegative"];
            /** @enum {string} */
            content: "full" | "fingerprint";
            content_warning: string;
            enabled: boolean;
            max_samples: number;
            replay_allowed: boolean;
            retention_days: number;
            samples_stored: components["schemas"]["NonNegative"];
            sampling_rate: number;
        };
        CatalogModelOut: {
            alias: string;
            capabilities: {
                "audio-input": boolean | null;
                "file-input": boolean | null;
                "image-url": boolean | null;
                logprobs: boolean | null;
                sampling: boolean | null;
                "structured-output": boolean | null;
                tools: boolean | null;
                vision: boolean | null;
            };
            context_tokens: components["schemas"]["Int"] | null;
            health: components["schemas"]["RouteHealth"];
            id: string;
            input_tokens: components["schemas"]["Int"] | null;
            listed: boolean;
            name: string;
            output_tokens: components["schemas"]["Int"] | null;
            prices: {
                cache_read: number | null;
                cache_write: number | null;
                input: number;
                output: number;
                tiers: {
                    above_prompt_tokens: number;
                    cache_read: number | null;
                    cache_write: number | null;
                    input: number;
                    output: number;
                }[];
            } | null;
            provider: string;
            quality: number;
            reasoning_efforts: ("none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max")[] | null;
        };
        CatalogPage: {
            has_more: boolean;
            items: components["schemas"]["CatalogModelOut"][];
            next_cursor: string | null;
        };
        ChatArtifactEventOut: {
            /** @enum {string} */
            action: "created" | "updated" | "restored" | "deleted";
            artifact: {
                content_url: string;
                /** Format: date-time */
                created_at: string;
                download_url: string;
                /** Format: uuid */
                id: string;
                media_type: string;
                name: string;
                size_bytes: number;
                /** Format: date-time */
                updated_at: string;
                version: number;
            };
        };
        ChatArtifactOut: {
            content_url: string;
            /** Format: date-time */
            created_at: string;
            download_url: string;
            /** Format: uuid */
            id: string;
            media_type: string;
            name: string;
            size_bytes: number;
            /** Format: date-time */
            updated_at: string;
            version: number;
        };
        ChatArtifactVersionsPage: {
            has_more: boolean;
            items: components["schemas"]["ChatArtifactOut"][];
            next_cursor: string | null;
        };
        ChatCompletion: {
            [key: string]: unknown;
        };
        ChatCompletionChunk: {
            [key: string]: unknown;
        };
        ChatCompletionRequest: {
            [key: string]: unknown;
        };
        ChatImageOut: {
            filename: string;
            /** Format: uuid */
            id: string;
            media_type: string;
            size_bytes: number;
            url: string;
        };
        ChatMessageOut: {
            artifact_events: components["schemas"]["ChatArtifactEventOut"][];
            content: string;
            cost: components["schemas"]["Cost"] | null;
            /** Format: date-time */
            created_at: string;
            error: components["schemas"]["CallError"] | null;
            finish_reason: string | null;
            /** Format: uuid */
            id: string;
            images: components["schemas"]["ChatImageOut"][];
            model_requested: string | null;
            model_used: string | null;
            position: number;
            reasoning: string;
            request_ids: components["schemas"]["UUID"][];
            /** @enum {string} */
            role: "user" | "assistant";
            /** @enum {string} */
            status: "complete" | "streaming" | "stopped" | "failed" | "interrupted";
            versions: components["schemas"]["ChatMessageVersionOut"][];
        };
        ChatMessageVersionOut: {
            content: string;
            cost: components["schemas"]["Cost"] | null;
            /** Format: date-time */
            created_at: string;
            error: components["schemas"]["CallError"] | null;
            finish_reason: string | null;
            /** Format: uuid */
            id: string;
            model_requested: string | null;
            model_used: string | null;
            reasoning: string;
            request_ids: components["schemas"]["UUID"][];
            /** @enum {string} */
            status: "complete" | "streaming" | "stopped" | "failed" | "interrupted";
        };
        ChatModelOut: {
            id: string;
            provider: string;
        };
        ChatModelsPage: {
            has_more: boolean;
            items: components["schemas"]["ChatModelOut"][];
            next_cursor: string | null;
        };
        ChatProjectOut: {
            /** Format: uuid */
            id: string;
            name: string;
        };
        ChatProjectsPage: {
            has_more: boolean;
            items: components["schemas"]["ChatProjectOut"][];
            next_cursor: string | null;
        };
        CheckoutStatusOut: {
            checkout_amount_cents: number;
            credited_amount_microusd: number;
            failure_category: string | null;
            failure_message: string | null;
            session_id: string;
            status: string;
        };
        CompletionUsage: {
            completion_tokens: components["schemas"]["Int"];
            completion_tokens_details: {
                accepted_prediction_tokens: components["schemas"]["Int"];
                audio_tokens: components["schemas"]["Int"];
                reasoning_tokens: components["schemas"]["Int"];
                rejected_prediction_tokens: components["schemas"]["Int"];
            };
            prompt_tokens: components["schemas"]["Int"];
            prompt_tokens_details: {
                audio_tokens: components["schemas"]["Int"];
                cache_write_tokens: components["schemas"]["Int"];
                cached_tokens: components["schemas"]["Int"];
            };
            total_tokens: components["schemas"]["Int"];
        };
        ConversationDetailOut: {
            artifacts: components["schemas"]["ChatArtifactOut"][];
            /** Format: date-time */
            created_at: string;
            /** Format: uuid */
            id: string;
            messages: components["schemas"]["ChatMessageOut"][];
            /** Format: uuid */
            project_id: string;
            running: boolean;
            title: string;
            /** Format: date-time */
            updated_at: string;
        };
        ConversationOut: {
            /** Format: date-time */
            created_at: string;
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            project_id: string;
            running: boolean;
            title: string;
            /** Format: date-time */
            updated_at: string;
        };
        ConversationPageOut: {
            has_more: boolean;
            items: components["schemas"]["ConversationOut"][];
            next_cursor: string | null;
        };
        Cost: {
            amount_microusd: components["schemas"]["Int"];
            /** @enum {string} */
            basis: "charged" | "estimated";
            /**
             * @default USD
             * @enum {string}
             */
            currency: "USD";
        };
        CreateAnalysis: {
            end?: string | null;
            requested_count?: number;
            start?: string | null;
        };
        CreateApiKeyRequest: {
            name: string;
            /** Format: uuid */
            project_id: string;
            spend_limit_microusd?: number | null;
        };
        CreateApiKeyResponse: {
            api_key: string;
            /** Format: uuid */
            id: string;
            key_prefix: string;
            name: string;
        };
        CreateCheckoutRequest: {
            credit_amount_cents: number;
        };
        CreateConversationRequest: {
            /** Format: uuid */
            project_id: string;
            title?: string;
        };
        CreateCredentialRequest: {
            allowed_models?: string[] | null;
            label: string;
            provider: string;
            secret: string;
        };
        CreateCreditRequest: {
            amount_microusd: number;
            note: string;
        };
        CreateMemberRequest: {
            role: components["schemas"]["ProjectRole"];
            /** Format: uuid */
            user_id: string;
        };
        CreateMyApiKeyRequest: {
            name: string;
            spend_limit_microusd?: number | null;
        };
        CreateMyProjectRequest: {
            name: string;
        };
        CreateProjectRequest: {
            allowed_models?: string[] | null;
            allowed_providers?: string[] | null;
            default_alpha?: number | null;
            enable_fallback?: boolean | null;
            excluded_models?: string[] | null;
            excluded_providers?: string[] | null;
            max_input_price_microusd_per_million?: number | null;
            max_output_price_microusd_per_million?: number | null;
            name: string;
            /** Format: uuid */
            user_id: string;
        };
        CreateRoutingConfigurationRequest: {
            alpha?: number | null;
            enable_fallback?: boolean | null;
            max_input_price_microusd_per_million?: number | null;
            max_output_price_microusd_per_million?: number | null;
            models?: string[] | null;
            name?: string | null;
            providers?: string[] | null;
            slug: string;
        };
        CreateSessionRequest: {
            code: string;
            /** @enum {string} */
            transport: "cookie" | "bearer";
        };
        CredentialCheckOut: {
            error: {
                code: string;
                message: string;
            } | null;
            latency_ms: number;
            model: string | null;
            /** @enum {string} */
            status: "accepted" | "rejected" | "unknown";
        };
        CredentialOut: {
            allowed_models: string[] | null;
            /** Format: date-time */
            created_at: string;
            /** Format: uuid */
            id: string;
            label: string;
            masked_secret: string;
            /** Format: uuid */
            project_id: string;
            provider: string;
            /** Format: date-time */
            updated_at: string;
        };
        CredentialsPage: {
            has_more: boolean;
            items: components["schemas"]["CredentialOut"][];
            next_cursor: string | null;
        };
        EditMessageRequest: {
            alpha?: number;
            artifacts?: boolean;
            content: string;
            /** @enum {string} */
            effort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";
            image_ids?: string[];
            max_completion_tokens?: number;
            model?: string;
            system?: string;
            temperature?: number;
        };
        EraseCaptureResponse: {
            erased: components["schemas"]["NonNegative"];
        };
        Error: {
            code: string;
            message: string;
            metadata?: {
                attempts?: components["schemas"]["Attempt"][];
                available_microusd?: components["schemas"]["NonNegativeInt"];
                excluded?: {
                    [key: string]: components["schemas"]["NonNegativeInt"];
                };
                fitting_output_tokens?: components["schemas"]["NonNegativeInt"];
                held_microusd?: components["schemas"]["NonNegativeInt"];
                needed_microusd?: components["schemas"]["NonNegativeInt"];
                /** @enum {string} */
                reason?: "exhausted" | "held" | "too_large";
                /** @enum {string} */
                scope?: "account" | "project" | "key";
                skipped?: components["schemas"]["SkippedCandidate"][];
            } & {
                [key: string]: unknown;
            };
            param: string | null;
            type: string;
        };
        ErrorResponse: {
            error: components["schemas"]["Error"];
        };
        ForkConversationRequest: {
            /** Format: uuid */
            message_id?: string;
        };
        InFlightOut: {
            /** @enum {string} */
            billing_mode: "managed" | "byok";
            held_microusd: number;
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            key_id: string;
            key_name: string | null;
            requested_model: string;
            /** Format: date-time */
            started_at: string;
        };
        InFlightPage: {
            has_more: boolean;
            items: components["schemas"]["InFlightOut"][];
            next_cursor: string | null;
        };
        Int: number;
        LedgerEntryOut: {
            amount_microusd: number;
            /** Format: date-time */
            at: string;
            call_id: string | null;
            credit: string;
            debit: string;
            /** Format: uuid */
            id: string;
            /** @enum {string} */
            kind: "usage" | "credit" | "refund" | "dispute";
            note: string | null;
            source: string | null;
        };
        LedgerPage: {
            has_more: boolean;
            items: components["schemas"]["LedgerEntryOut"][];
            next_cursor: string | null;
        };
        MemberOut: {
            /** Format: date-time */
            created_at: string;
            is_account_owner: boolean;
            name: string;
            role: components["schemas"]["ProjectRole"];
            /** Format: uuid */
            user_id: string;
        };
        MembersPage: {
            has_more: boolean;
            items: components["schemas"]["MemberOut"][];
            next_cursor: string | null;
        };
        MeOut: {
            accounts: {
                /** Format: uuid */
                id: string;
                /** @enum {string} */
                role: "owner";
            }[];
            default_project_id: string | null;
            roles: "operator"[];
            user: {
                /** Format: date-time */
                created_at: string;
                /** Format: uuid */
                id: string;
                issuer: string | null;
                name: string;
                subject: string | null;
            };
        };
        NonNegative: number;
        NonNegativeInt: number;
        PaymentOut: {
            checkout_amount_cents: number;
            /** Format: date-time */
            created_at: string;
            credited_amount_microusd: number;
            failure_category: string | null;
            failure_message: string | null;
            /** Format: uuid */
            id: string;
            /** @enum {string} */
            provider: "stripe" | "test";
            session_id: string | null;
            status: string;
            /** Format: date-time */
            updated_at: string;
        };
        PaymentsPage: {
            has_more: boolean;
            items: components["schemas"]["PaymentOut"][];
            next_cursor: string | null;
        };
        PolicyInput: {
            allowed_models?: string[] | null;
            allowed_providers?: string[] | null;
            default_alpha?: number | null;
            enable_fallback?: boolean | null;
            excluded_models?: string[] | null;
            excluded_providers?: string[] | null;
            exploration_share?: number | null;
            max_input_price_microusd_per_million?: number | null;
            max_output_price_microusd_per_million?: number | null;
        };
        PolicyOut: {
            allowed_models?: string[] | null;
            allowed_providers?: string[] | null;
            default_alpha?: number | null;
            enable_fallback?: boolean | null;
            excluded_models?: string[] | null;
            excluded_providers?: string[] | null;
            exploration_share?: number | null;
            managed_by_configuration: boolean;
            max_input_price_microusd_per_million?: number | null;
            max_output_price_microusd_per_million?: number | null;
            policy_version: number;
        };
        PolicyReplayOut: {
            after: {
                expected_cost_microusd: components["schemas"]["NonNegative"];
                expected_quality: number | null;
                models: {
                    count: components["schemas"]["NonNegative"];
                    model: string;
                }[];
                without_model: components["schemas"]["NonNegative"];
            };
            before: {
                expected_cost_microusd: components["schemas"]["NonNegative"];
                expected_quality: number | null;
                models: {
                    count: components["schemas"]["NonNegative"];
                    model: string;
                }[];
                without_model: components["schemas"]["NonNegative"];
            };
            by_alpha: {
                after: components["schemas"]["ReplayOutcomeOut"];
                alpha: number;
                before: components["schemas"]["ReplayOutcomeOut"];
            }[];
            calls: components["schemas"]["NonNegative"];
            changed: components["schemas"]["NonNegative"];
            charged_microusd: components["schemas"]["NonNegative"];
            from: string | null;
            skipped: components["schemas"]["NonNegative"];
            to: string | null;
        };
        PolicySimulationOut: {
            after: {
                models: string[];
            };
            becomes_empty: string[];
            before: {
                models: string[];
            };
            replay: components["schemas"]["PolicyReplayOut"];
        };
        ProjectOut: {
            /** Format: uuid */
            account_id: string;
            /** @enum {string} */
            billing_mode: "managed" | "byok";
            /** Format: date-time */
            created_at: string;
            /** Format: uuid */
            id: string;
            is_default: boolean;
            limit_reset: ("day" | "week" | "month") | null;
            name: string;
            rate_limits: components["schemas"]["RateLimits"] | null;
            /** @enum {string} */
            role: "owner" | "member" | "viewer";
            spend_limit_microusd: components["schemas"]["Int"] | null;
            spent_microusd: number;
            total_spent_microusd: number;
            /** Format: date-time */
            updated_at: string;
        };
        /** @enum {string} */
        ProjectRole: "owner" | "member" | "viewer";
        ProjectsPage: {
            has_more: boolean;
            items: components["schemas"]["ProjectOut"][];
            next_cursor: string | null;
        };
        RateLimits: {
            concurrent_requests?: number | null;
            requests_per_minute?: number | null;
            tokens_per_minute?: number | null;
        };
        Receipt: {
            conversations: {
                before: components["schemas"]["NonNegative"];
                held_out: components["schemas"]["NonNegative"];
                treated: components["schemas"]["NonNegative"];
            };
            cost_per_conversation_microusd: {
                held_out: components["schemas"]["Int"] | null;
                treated: components["schemas"]["Int"] | null;
            };
            e_value: number;
            ended_at: string | null;
            /** Format: date-time */
            ends_at: string;
            estimated_per_conversation_microusd: components["schemas"]["Int"] | null;
            /** Format: uuid */
            experiment_id: string;
            guards: {
                before: number | null;
                e_value: number;
                /** @enum {string} */
                guard: "errors" | "retries" | "feedback";
                held_out: number | null;
                treated: number | null;
            }[];
            measured_at: string | null;
            realised_over_estimated: number | null;
            reason: string | null;
            revert_at_e_value: number;
            saved_at_least_microusd: components["schemas"]["Int"] | null;
            saved_per_conversation_microusd: components["schemas"]["Int"] | null;
            share: number;
            /** Format: date-time */
            started_at: string;
            /** @enum {string} */
            state: "running" | "reverted" | "final" | "undone" | "superseded";
        };
        RefusalOut: {
            code: string;
            /** @enum {string} */
            endpoint: "chat" | "responses" | "messages" | "embedded";
            held_microusd: components["schemas"]["NonNegativeInt"] | null;
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            key_id: string;
            key_name: string | null;
            message: string;
            needed_microusd: components["schemas"]["NonNegativeInt"] | null;
            reason: ("exhausted" | "held" | "too_large") | null;
            refused_at: string;
            remaining_microusd: components["schemas"]["NonNegativeInt"] | null;
            remaining_requests: components["schemas"]["NonNegativeInt"] | null;
            remaining_tokens: components["schemas"]["NonNegativeInt"] | null;
            requested_model: string;
            retry_after_ms: components["schemas"]["NonNegativeInt"] | null;
            scope: ("account" | "project" | "key") | null;
            /** @enum {number} */
            status: 402 | 404 | 429;
        };
        RefusalsPage: {
            has_more: boolean;
            items: components["schemas"]["RefusalOut"][];
            next_cursor: string | null;
        };
        ReplayOutcomeOut: {
            expected_cost_microusd: components["schemas"]["NonNegative"];
            expected_quality: number | null;
            models: {
                count: components["schemas"]["NonNegative"];
                model: string;
            }[];
            without_model: components["schemas"]["NonNegative"];
        };
        ReplayQuote: {
            /** Format: uuid */
            analysis_id: string;
            cost_microusd: components["schemas"]["NonNegative"];
            judge_model: string | null;
            max_spend_microusd: components["schemas"]["NonNegative"];
            questions: {
                advised: boolean;
                candidate: string;
                /** @enum {string} */
                class: "code" | "math" | "reasoning" | "knowledge" | "extraction" | "chat" | "translation" | "tool_use" | "long_context" | "vision";
                cost_microusd: components["schemas"]["NonNegative"];
                incumbent: string;
                pairs: components["schemas"]["NonNegative"];
                payback_calls: components["schemas"]["NonNegativeInt"] | null;
                payback_days: number | null;
                saving_per_call_microusd: components["schemas"]["NonNegative"];
            }[];
            started: boolean;
        };
        ReplayRequest: {
            candidates?: string[] | null;
            confirm?: boolean;
            judge_model?: string | null;
            max_spend_microusd: number;
        };
        RequestOut: {
            alpha: number | null;
            attempts: components["schemas"]["Attempt"][];
            baseline: components["schemas"]["BaselineOut"] | null;
            candidate_pool: components["schemas"]["CandidatePool"];
            client_request_id: string | null;
            cost: {
                amount_microusd: components["schemas"]["Int"];
                /** @enum {string} */
                basis: "charged" | "estimated";
                /**
                 * @default USD
                 * @enum {string}
                 */
                currency: "USD";
            };
            ended_at: string;
            endpoint: ("chat" | "responses" | "messages" | "embedded") | null;
            error: components["schemas"]["CallError"] | null;
            excluded: {
                [key: string]: components["schemas"]["Int"];
            } | null;
            first_content_ms: number | null;
            held_microusd: components["schemas"]["NonNegativeInt"] | null;
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            key_id: string;
            key_name: string | null;
            latency_ms: number | null;
            model: string | null;
            policy_version: components["schemas"]["Int"] | null;
            /** Format: uuid */
            project_id: string;
            provider: string | null;
            reason: string | null;
            requested_model: string;
            routing_config: string | null;
            started_at: string;
            /** @enum {string} */
            status: "success" | "error" | "timeout" | "cancelled";
            stream: boolean | null;
            usage: components["schemas"]["CompletionUsage"] | null;
        };
        RequestsPage: {
            has_more: boolean;
            items: components["schemas"]["RequestOut"][];
            next_cursor: string | null;
        };
        RestoreArtifactRequest: {
            version: number;
        };
        RetryMessageRequest: {
            alpha?: number;
            artifacts?: boolean;
            /** @enum {string} */
            effort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";
            max_completion_tokens?: number;
            model?: string;
            system?: string;
            temperature?: number;
        };
        RotateApiKeyRequest: {
            grace_seconds?: number;
        };
        RouteHealth: {
            failure: number;
            latency_ms: number | null;
            open_for_ms: number;
        };
        RouteOut: {
            alpha: number | null;
            candidates: {
                dropped_parameters: string[];
                effort: (("none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max") | number) | null;
                expected_cost_microusd: number;
                health: components["schemas"]["RouteHealth"];
                max_cost_microusd: number;
                model: string;
                provider: string;
                quality: number;
                score: number;
            }[];
            classes: {
                [key: string]: number;
            };
            error: components["schemas"]["Error"] | null;
            excluded: {
                [key: string]: components["schemas"]["Int"];
            };
            fallback_enabled: boolean;
            policy_version: components["schemas"]["Int"] | null;
            prompt_tokens: components["schemas"]["Int"] | null;
            reason: ("pinned_model" | "only_candidate" | "cheapest_eligible" | "highest_quality" | "quality_cost_tradeoff" | "sticky_session" | "cache_affinity" | "health_demotion" | "exploration" | "first_affordable" | "fallback_after_error") | null;
            requested_model: string;
            routing_config: string | null;
            skipped: string[];
        };
        RouteRequest: Record<string, never>;
        RoutingConfigurationInput: {
            alpha?: number | null;
            enable_fallback?: boolean | null;
            max_input_price_microusd_per_million?: number | null;
            max_output_price_microusd_per_million?: number | null;
            models?: string[] | null;
            name?: string | null;
            providers?: string[] | null;
        };
        RoutingConfigurationOut: {
            active_version: components["schemas"]["Int"] | null;
            alpha?: number | null;
            /** Format: date-time */
            created_at: string;
            enable_fallback?: boolean | null;
            /** Format: uuid */
            id: string;
            managed_by_configuration: boolean;
            max_input_price_microusd_per_million?: number | null;
            max_output_price_microusd_per_million?: number | null;
            models?: string[] | null;
            name: string;
            /** Format: uuid */
            project_id: string;
            providers?: string[] | null;
            slug: string;
            /** Format: date-time */
            updated_at: string;
        };
        RoutingConfigurationsPage: {
            has_more: boolean;
            items: components["schemas"]["RoutingConfigurationOut"][];
            next_cursor: string | null;
        };
        RoutingVersionOut: {
            alpha?: number | null;
            /** Format: date-time */
            created_at: string;
            /** Format: uuid */
            created_by: string;
            enable_fallback?: boolean | null;
            is_active: boolean;
            max_input_price_microusd_per_million?: number | null;
            max_output_price_microusd_per_million?: number | null;
            models?: string[] | null;
            name: string;
            providers?: string[] | null;
            version: number;
        };
        RoutingVersionsPage: {
            has_more: boolean;
            items: components["schemas"]["RoutingVersionOut"][];
            next_cursor: string | null;
        };
        Sample: {
            attempts: components["schemas"]["CapturedAttempt"][];
            candidate_pool: components["schemas"]["CandidatePool"];
            /** Format: date-time */
            captured_at: string;
            class: ("code" | "math" | "reasoning" | "knowledge" | "extraction" | "chat" | "translation" | "tool_use" | "long_context" | "vision") | null;
            conversation: string;
            cost: components["schemas"]["Cost"];
            decision: {
                alpha: number | null;
                policy_version: number;
                /** @enum {string} */
                reason: "pinned_model" | "only_candidate" | "cheapest_eligible" | "highest_quality" | "quality_cost_tradeoff" | "sticky_session" | "cache_affinity" | "health_demotion" | "exploration" | "first_affordable" | "fallback_after_error";
                requested_model: string;
                routing_config: string | null;
            };
            end_user: string | null;
            /** @enum {string} */
            endpoint: "chat" | "responses" | "messages" | "embedded";
            error: components["schemas"]["CallError"] | null;
            /** Format: date-time */
            expires_at: string;
            first_content_ms: number | null;
            /** Format: uuid */
            key_id: string;
            latency_ms: number;
            prices: {
                [key: string]: unknown;
            } | null;
            request: {
                blocks: components["schemas"]["CapturedBlock"][];
                media: components["schemas"]["CapturedMedia"][];
                messages: {
                    [key: string]: unknown;
                }[] | null;
                params: {
                    [key: string]: unknown;
                };
                tools: {
                    [key: string]: unknown;
                }[] | null;
                tools_called: string[];
                tools_offered: string[];
            };
            /** Format: uuid */
            request_id: string;
            response: {
                block: components["schemas"]["CapturedBlock"];
                finish: ("stop" | "length" | "tool_calls" | "content_filter") | null;
                message: {
                    [key: string]: unknown;
                } | null;
            } | null;
            /** @enum {number} */
            schema_version: 1;
            /** @enum {string} */
            status: "success" | "error" | "timeout" | "cancelled";
            truncated: boolean;
            usage: components["schemas"]["CapturedUsage"] | null;
            window: {
                config_version: number;
                inclusion: number;
                sampling_rate: number;
            };
        };
        SaveArtifactRequest: {
            content: string;
            media_type: string;
            name: string;
        };
        SavingsByModelOut: {
            baseline_microusd: components["schemas"]["NonNegative"];
            count: components["schemas"]["NonNegative"];
            model: string;
            spend_microusd: components["schemas"]["NonNegative"];
        };
        SavingsOut: {
            baseline_microusd: components["schemas"]["NonNegative"];
            by_model: components["schemas"]["SavingsByModelOut"][];
            count: components["schemas"]["NonNegative"];
            saved_microusd: number;
            spend_microusd: components["schemas"]["NonNegative"];
        };
        SendMessageRequest: {
            alpha?: number;
            artifacts?: boolean;
            content: string;
            /** @enum {string} */
            effort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";
            image_ids?: string[];
            max_completion_tokens?: number;
            model: string;
            system?: string;
            temperature?: number;
        };
        SessionOut: {
            address: string;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            expires_at: string;
            /** Format: uuid */
            id: string;
            is_current: boolean;
            /** Format: date-time */
            seen_at: string;
            /** @enum {string} */
            transport: "cookie" | "bearer";
            user_agent: string | null;
            /** Format: uuid */
            user_id: string;
        };
        SessionsPage: {
            has_more: boolean;
            items: components["schemas"]["SessionOut"][];
            next_cursor: string | null;
        };
        SkippedCandidate: {
            model: string;
            /** @enum {string} */
            reason: "resting" | "unaffordable";
        };
        UpdateAlertsRequest: {
            rotate_secret?: boolean;
            thresholds: components["schemas"]["AlertThreshold"][];
            webhook_url: string | null;
        };
        UpdateApiKeyRequest: {
            expires_at?: string | null;
            is_active?: boolean;
            limit_reset?: ("day" | "week" | "month") | null;
            name?: string;
            rate_limits?: components["schemas"]["RateLimits"] | null;
            spend_limit_microusd?: number | null;
        };
        UpdateCaptureSettings: {
            config_version: number;
            /** @enum {string} */
            content?: "full" | "fingerprint";
            content_warning?: string;
            enabled: boolean;
            max_samples?: number;
            replay_allowed?: boolean;
            retention_days?: number;
            sampling_rate: number;
        };
        UpdateConversationRequest: {
            title: string;
        };
        UpdateCredentialRequest: {
            allowed_models?: string[] | null;
            label?: string;
            secret?: string;
        };
        UpdateProjectRequest: {
            limit_reset?: ("day" | "week" | "month") | null;
            name?: string;
            rate_limits?: components["schemas"]["RateLimits"] | null;
            spend_limit_microusd?: number | null;
        };
        UserOut: {
            /** Format: uuid */
            account_id: string;
            /** Format: date-time */
            created_at: string;
            /** Format: uuid */
            id: string;
            is_operator: boolean;
            issuer: string | null;
            name: string;
            subject: string | null;
        };
        UsersPage: {
            has_more: boolean;
            items: components["schemas"]["UserOut"][];
            next_cursor: string | null;
        };
        /** Format: uuid */
        UUID: string;
    };
    responses: never;
    parameters: {
        AnthropicVersion: string;
        ClientRequestId: string;
        IdempotencyKey: string;
        TraceParent: string;
    };
    requestBodies: never;
    headers: {
        AccelBuffering: string;
        AnswerReplayed: string;
        AnthropicRequestId: string;
        Attachment: string;
        Authenticate: string;
        CacheControl: string;
        ContentTypeOptions: string;
        DroppedTools: string;
        EntityTag: string;
        IdempotentReplayed: string;
        Location: string;
        RequestId: string;
        RetryAfter: number;
        SetCookie: string;
        ShouldRetry: string;
        Vary: string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    "billing.getAnyBalance": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BalanceOut"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "billing.createCredit": {
        parameters: {
            query?: never;
            header: {
                "idempotency-key": string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateCreditRequest"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "idempotent-replayed": components["headers"]["AnswerReplayed"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        available_microusd: number;
                        credited_microusd: number;
                        held_microusd: number;
                        spent_microusd: number;
                    };
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "keys.createAnyKey": {
        parameters: {
            query?: never;
            header?: {
                "idempotency-key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateApiKeyRequest"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "idempotent-replayed": components["headers"]["AnswerReplayed"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        api_key: string;
                        /** Format: uuid */
                        id: string;
                        key_prefix: string;
                        name: string;
                    };
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "admin.listAllProjects": {
        parameters: {
            query?: {
                cursor?: string;
                limit?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AdminProjectsPage"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "admin.createProject": {
        parameters: {
            query?: never;
            header?: {
                "idempotency-key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateProjectRequest"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "idempotent-replayed": components["headers"]["AnswerReplayed"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** Format: uuid */
                        account_id: string;
                        allowed_models: string[] | null;
                        allowed_providers: string[] | null;
                        /** @enum {string} */
                        billing_mode: "managed" | "byok";
                        /** Format: date-time */
                        created_at: string;
                        default_alpha: number | null;
                        enable_fallback: boolean;
                        excluded_models: string[] | null;
                        excluded_providers: string[] | null;
                        /** Format: uuid */
                        id: string;
                        max_input_price_microusd_per_million: components["schemas"]["Int"] | null;
                        max_output_price_microusd_per_million: components["schemas"]["Int"] | null;
                        name: string;
                        spend_limit_microusd: components["schemas"]["Int"] | null;
                        total_spent_microusd: number;
                        /** Format: date-time */
                        updated_at: string;
                        /** Format: uuid */
                        user_id: string;
                    };
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "admin.listUsers": {
        parameters: {
            query?: {
                cursor?: string;
                limit?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UsersPage"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "analyses.getAnalysis": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnalysisDetail"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "analyses.applyAnalysisAction": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                action_id: string;
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ApplyAction"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnalysisDetail"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "analyses.previewAnalysisAction": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                action_id: string;
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Preview of what an action would change; nothing is written. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ActionPreview"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "analyses.undoAnalysisAction": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                action_id: string;
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnalysisDetail"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "analyses.cancelAnalysis": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnalysisSummary"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "analyses.replayAnalysis": {
        parameters: {
            query?: never;
            header?: {
                "idempotency-key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReplayRequest"];
            };
        };
        responses: {
            /** @description What a replay would compare and cost. Costs are expected values; the maximum is a hard limit. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "idempotent-replayed": components["headers"]["AnswerReplayed"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReplayQuote"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "audit.listAuditRows": {
        parameters: {
            query?: {
                cursor?: string;
                limit?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditPage"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "capture.getCaptureSample": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaptureSample"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "capture.deleteCaptureSample": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "chat.listConversations": {
        parameters: {
            query?: {
                cursor?: string;
                limit?: string;
                project_id?: string;
                q?: string;
                running?: "true" | "false";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConversationPageOut"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "chat.createConversation": {
        parameters: {
            query?: never;
            header?: {
                "idempotency-key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateConversationRequest"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "idempotent-replayed": components["headers"]["AnswerReplayed"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** Format: date-time */
                        created_at: string;
                        /** Format: uuid */
                        id: string;
                        /** Format: uuid */
                        project_id: string;
                        running: boolean;
                        title: string;
                        /** Format: date-time */
                        updated_at: string;
                    };
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "chat.getConversation": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A conversation with its messages and artifacts. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["EntityTag"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConversationDetailOut"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "chat.deleteConversation": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "chat.updateConversation": {
        parameters: {
            query?: never;
            header?: {
                "if-match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateConversationRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["EntityTag"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConversationOut"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "chat.saveArtifact": {
        parameters: {
            query?: never;
            header?: {
                "idempotency-key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SaveArtifactRequest"];
            };
        };
        responses: {
            /** @description A version of a document created in a conversation. */
            201: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "idempotent-replayed": components["headers"]["AnswerReplayed"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        content_url: string;
                        /** Format: date-time */
                        created_at: string;
                        download_url: string;
                        /** Format: uuid */
                        id: string;
                        media_type: string;
                        name: string;
                        size_bytes: number;
                        /** Format: date-time */
                        updated_at: string;
                        version: number;
                    };
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "chat.deleteArtifact": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                artifact_id: string;
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "chat.restoreArtifact": {
        parameters: {
            query?: never;
            header?: {
                "idempotency-key"?: string;
            };
            path: {
                artifact_id: string;
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RestoreArtifactRequest"];
            };
        };
        responses: {
            /** @description A version of a document created in a conversation. */
            201: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "idempotent-replayed": components["headers"]["AnswerReplayed"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        content_url: string;
                        /** Format: date-time */
                        created_at: string;
                        download_url: string;
                        /** Format: uuid */
                        id: string;
                        media_type: string;
                        name: string;
                        size_bytes: number;
                        /** Format: date-time */
                        updated_at: string;
                        version: number;
                    };
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "chat.listArtifactVersions": {
        parameters: {
            query?: {
                cursor?: string;
                limit?: string;
            };
            header?: never;
            path: {
                artifact_id: string;
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChatArtifactVersionsPage"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "chat.followConversation": {
        parameters: {
            query?: {
                cursor?: string;
            };
            header?: {
                "last-event-id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Accel-Buffering": components["headers"]["AccelBuffering"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "chat.forkConversation": {
        parameters: {
            query?: never;
            header?: {
                "idempotency-key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ForkConversationRequest"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "idempotent-replayed": components["headers"]["AnswerReplayed"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** Format: date-time */
                        created_at: string;
                        /** Format: uuid */
                        id: string;
                        /** Format: uuid */
                        project_id: string;
                        running: boolean;
                        title: string;
                        /** Format: date-time */
                        updated_at: string;
                    };
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "chat.sendMessage": {
        parameters: {
            query?: never;
            header?: {
                "idempotency-key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SendMessageRequest"];
            };
        };
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "idempotent-replayed": components["headers"]["AnswerReplayed"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        assistant_message: {
                            artifact_events: components["schemas"]["ChatArtifactEventOut"][];
                            content: string;
                            cost: components["schemas"]["Cost"] | null;
                            /** Format: date-time */
                            created_at: string;
                            error: components["schemas"]["CallError"] | null;
                            finish_reason: string | null;
                            /** Format: uuid */
                            id: string;
                            images: components["schemas"]["ChatImageOut"][];
                            model_requested: string | null;
                            model_used: string | null;
                            position: number;
                            reasoning: string;
                            request_ids: components["schemas"]["UUID"][];
                            /** @enum {string} */
                            role: "user" | "assistant";
                            /** @enum {string} */
                            status: "complete" | "streaming" | "stopped" | "failed" | "interrupted";
                            versions: components["schemas"]["ChatMessageVersionOut"][];
                        };
                        cursor: string;
                        user_message: {
                            artifact_events: components["schemas"]["ChatArtifactEventOut"][];
                            content: string;
                            cost: components["schemas"]["Cost"] | null;
                            /** Format: date-time */
                            created_at: string;
                            error: components["schemas"]["CallError"] | null;
                            finish_reason: string | null;
                            /** Format: uuid */
                            id: string;
                            images: components["schemas"]["ChatImageOut"][];
                            model_requested: string | null;
                            model_used: string | null;
                            position: number;
                            reasoning: string;
                            request_ids: components["schemas"]["UUID"][];
                            /** @enum {string} */
                            role: "user" | "assistant";
                            /** @enum {string} */
                            status: "complete" | "streaming" | "stopped" | "failed" | "interrupted";
                            versions: components["schemas"]["ChatMessageVersionOut"][];
                        };
                    };
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "chat.editMessage": {
        parameters: {
            query?: never;
            header?: {
                "idempotency-key"?: string;
            };
            path: {
                id: string;
                message_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EditMessageRequest"];
            };
        };
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "idempotent-replayed": components["headers"]["AnswerReplayed"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        assistant_message: {
                            artifact_events: components["schemas"]["ChatArtifactEventOut"][];
                            content: string;
                            cost: components["schemas"]["Cost"] | null;
                            /** Format: date-time */
                            created_at: string;
                            error: components["schemas"]["CallError"] | null;
                            finish_reason: string | null;
                            /** Format: uuid */
                            id: string;
                            images: components["schemas"]["ChatImageOut"][];
                            model_requested: string | null;
                            model_used: string | null;
                            position: number;
                            reasoning: string;
                            request_ids: components["schemas"]["UUID"][];
                            /** @enum {string} */
                            role: "user" | "assistant";
                            /** @enum {string} */
                            status: "complete" | "streaming" | "stopped" | "failed" | "interrupted";
                            versions: components["schemas"]["ChatMessageVersionOut"][];
                        };
                        cursor: string;
                        user_message: {
                            artifact_events: components["schemas"]["ChatArtifactEventOut"][];
                            content: string;
                            cost: components["schemas"]["Cost"] | null;
                            /** Format: date-time */
                            created_at: string;
                            error: components["schemas"]["CallError"] | null;
                            finish_reason: string | null;
                            /** Format: uuid */
                            id: string;
                            images: components["schemas"]["ChatImageOut"][];
                            model_requested: string | null;
                            model_used: string | null;
                            position: number;
                            reasoning: string;
                            request_ids: components["schemas"]["UUID"][];
                            /** @enum {string} */
                            role: "user" | "assistant";
                            /** @enum {string} */
                            status: "complete" | "streaming" | "stopped" | "failed" | "interrupted";
                            versions: components["schemas"]["ChatMessageVersionOut"][];
                        };
                    };
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "chat.retryMessage": {
        parameters: {
            query?: never;
            header?: {
                "idempotency-key"?: string;
            };
            path: {
                id: string;
                message_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RetryMessageRequest"];
            };
        };
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "idempotent-replayed": components["headers"]["AnswerReplayed"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        assistant_message: {
                            artifact_events: components["schemas"]["ChatArtifactEventOut"][];
                            content: string;
                            cost: components["schemas"]["Cost"] | null;
                            /** Format: date-time */
                            created_at: string;
                            error: components["schemas"]["CallError"] | null;
                            finish_reason: string | null;
                            /** Format: uuid */
                            id: string;
                            images: components["schemas"]["ChatImageOut"][];
                            model_requested: string | null;
                            model_used: string | null;
                            position: number;
                            reasoning: string;
                            request_ids: components["schemas"]["UUID"][];
                            /** @enum {string} */
                            role: "user" | "assistant";
                            /** @enum {string} */
                            status: "complete" | "streaming" | "stopped" | "failed" | "interrupted";
                            versions: components["schemas"]["ChatMessageVersionOut"][];
                        };
                        cursor: string;
                        user_message: {
                            artifact_events: components["schemas"]["ChatArtifactEventOut"][];
                            content: string;
                            cost: components["schemas"]["Cost"] | null;
                            /** Format: date-time */
                            created_at: string;
                            error: components["schemas"]["CallError"] | null;
                            finish_reason: string | null;
                            /** Format: uuid */
                            id: string;
                            images: components["schemas"]["ChatImageOut"][];
                            model_requested: string | null;
                            model_used: string | null;
                            position: number;
                            reasoning: string;
                            request_ids: components["schemas"]["UUID"][];
                            /** @enum {string} */
                            role: "user" | "assistant";
                            /** @enum {string} */
                            status: "complete" | "streaming" | "stopped" | "failed" | "interrupted";
                            versions: components["schemas"]["ChatMessageVersionOut"][];
                        };
                    };
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "chat.restoreConversation": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConversationOut"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "chat.stopConversation": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConversationOut"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "chat.uploadChatImage": {
        parameters: {
            query: {
                filename: string;
            };
            header?: {
                "idempotency-key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/octet-stream": string;
            };
        };
        responses: {
            /** @description An image of a message. */
            201: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "idempotent-replayed": components["headers"]["AnswerReplayed"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        filename: string;
                        /** Format: uuid */
                        id: string;
                        media_type: string;
                        size_bytes: number;
                        url: string;
                    };
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "chat.listChatModels": {
        parameters: {
            query: {
                cursor?: string;
                limit?: string;
                project_id: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChatModelsPage"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "chat.listChatProjects": {
        parameters: {
            query?: {
                cursor?: string;
                limit?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChatProjectsPage"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "credentials.getCredential": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["EntityTag"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CredentialOut"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "credentials.deleteCredential": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "credentials.updateCredential": {
        parameters: {
            query?: never;
            header?: {
                "if-match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateCredentialRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["EntityTag"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CredentialOut"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "credentials.verifyCredential": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CredentialCheckOut"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "keys.getKey": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["EntityTag"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKeyOut"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "keys.deleteKey": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "keys.updateKey": {
        parameters: {
            query?: never;
            header?: {
                "if-match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateApiKeyRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["EntityTag"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKeyOut"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "keys.revokeKey": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["EntityTag"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKeyOut"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "keys.rotateKey": {
        parameters: {
            query?: never;
            header?: {
                "idempotency-key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RotateApiKeyRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "idempotent-replayed": components["headers"]["AnswerReplayed"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreateApiKeyResponse"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "projects.getMe": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MeOut"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "billing.getBalance": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BalanceOut"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "payments.createCheckout": {
        parameters: {
            query?: never;
            header?: {
                "idempotency-key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateCheckoutRequest"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "idempotent-replayed": components["headers"]["AnswerReplayed"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        checkout_url: string;
                        payment_id: string;
                        session_id: string;
                    };
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "payments.getCheckout": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CheckoutStatusOut"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "keys.listMyKeys": {
        parameters: {
            query?: {
                limit?: string;
                near_limit?: "true" | "false";
                page?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKeysPage"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "keys.createMyKey": {
        parameters: {
            query?: never;
            header?: {
                "idempotency-key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateMyApiKeyRequest"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "idempotent-replayed": components["headers"]["AnswerReplayed"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        api_key: string;
                        /** Format: uuid */
                        id: string;
                        key_prefix: string;
                        name: string;
                    };
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "billing.listLedger": {
        parameters: {
            query?: {
                cursor?: string;
                limit?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LedgerPage"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "payments.listPayments": {
        parameters: {
            query?: {
                cursor?: string;
                limit?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PaymentsPage"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "projects.listMyProjects": {
        parameters: {
            query?: {
                cursor?: string;
                limit?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProjectsPage"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "projects.createMyProject": {
        parameters: {
            query?: never;
            header?: {
                "idempotency-key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateMyProjectRequest"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "idempotent-replayed": components["headers"]["AnswerReplayed"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** Format: uuid */
                        account_id: string;
                        /** @enum {string} */
                        billing_mode: "managed" | "byok";
                        /** Format: date-time */
                        created_at: string;
                        /** Format: uuid */
                        id: string;
                        is_default: boolean;
                        limit_reset: ("day" | "week" | "month") | null;
                        name: string;
                        rate_limits: components["schemas"]["RateLimits"] | null;
                        /** @enum {string} */
                        role: "owner" | "member" | "viewer";
                        spend_limit_microusd: components["schemas"]["Int"] | null;
                        spent_microusd: number;
                        total_spent_microusd: number;
                        /** Format: date-time */
                        updated_at: string;
                    };
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "routing.listCatalog": {
        parameters: {
            query?: {
                cursor?: string;
                limit?: string;
                project_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CatalogPage"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "projects.getProject": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["EntityTag"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProjectOut"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "projects.deleteProject": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "projects.updateProject": {
        parameters: {
            query?: never;
            header?: {
                "if-match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateProjectRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["EntityTag"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProjectOut"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "activity.getActivity": {
        parameters: {
            query?: {
                days?: string;
                granularity?: "day" | "hour";
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Usage and spend of a project; equal to the ledger's rows at the time of the request. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ActivityDataOut"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "alerts.getAlerts": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Spend alerts of a project. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["EntityTag"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertsOut"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "alerts.setAlerts": {
        parameters: {
            query?: never;
            header?: {
                "if-match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateAlertsRequest"];
            };
        };
        responses: {
            /** @description Spend alerts of a project. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["EntityTag"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertsOut"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "policy.getAlphaCurve": {
        parameters: {
            query?: {
                calls?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Past calls at each alpha, under the current policy. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlphaCurveOut"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "analyses.listAnalyses": {
        parameters: {
            query?: {
                cursor?: string;
                limit?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnalysesPage"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "analyses.createAnalysis": {
        parameters: {
            query?: never;
            header?: {
                "idempotency-key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateAnalysis"];
            };
        };
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "idempotent-replayed": components["headers"]["AnswerReplayed"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** Format: date-time */
                        created_at: string;
                        error: string | null;
                        finished_at: string | null;
                        /** Format: uuid */
                        id: string;
                        /** Format: uuid */
                        project_id: string;
                        /** Format: date-time */
                        range_end: string;
                        /** Format: date-time */
                        range_start: string;
                        requested_count: components["schemas"]["NonNegative"];
                        sample_count: components["schemas"]["NonNegative"];
                        status: string;
                    };
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "analyses.estimateAnalysis": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateAnalysis"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnalysisEstimate"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "credentials.getBillingMode": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["EntityTag"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BillingModeInput"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "credentials.setBillingMode": {
        parameters: {
            query?: never;
            header?: {
                "if-match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BillingModeInput"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["EntityTag"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BillingModeInput"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "capture.getCapture": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What a project captures of calls that opt in. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["EntityTag"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaptureSettings"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "capture.putCapture": {
        parameters: {
            query?: never;
            header?: {
                "if-match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateCaptureSettings"];
            };
        };
        responses: {
            /** @description What a project captures of calls that opt in. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["EntityTag"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaptureSettings"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "capture.eraseCapture": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": (({
                    /** Format: uuid */
                    key_id: string;
                    /** @enum {string} */
                    target: "key";
                } | {
                    end_user: string;
                    /** @enum {string} */
                    target: "end_user";
                }) | {
                    conversation: string;
                    /** @enum {string} */
                    target: "conversation";
                }) | {
                    /** @enum {string} */
                    target: "project";
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EraseCaptureResponse"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "capture.exportCapture": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "Content-Disposition": components["headers"]["Attachment"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": string;
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "capture.listCaptureSamples": {
        parameters: {
            query?: {
                cursor?: string;
                limit?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaptureSamplesPage"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "inference.createProjectChatCompletion": {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                traceparent?: components["parameters"]["TraceParent"];
                "x-request-id"?: components["parameters"]["ClientRequestId"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChatCompletionRequest"];
            };
        };
        responses: {
            /** @description Without `stream`: the complete response. With `stream: true` the body is `text/event-stream`, and `x-event-stream` has the schema of each event's data. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "idempotent-replayed": components["headers"]["IdempotentReplayed"];
                    "X-Accel-Buffering": components["headers"]["AccelBuffering"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-ratelimit-limit-requests"?: number;
                    "x-ratelimit-limit-tokens"?: number;
                    "x-ratelimit-remaining-requests"?: number;
                    "x-ratelimit-remaining-tokens"?: number;
                    "x-ratelimit-reset-requests"?: string;
                    "x-ratelimit-reset-tokens"?: string;
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChatCompletion"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "credentials.listCredentials": {
        parameters: {
            query?: {
                cursor?: string;
                limit?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CredentialsPage"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "credentials.createCredential": {
        parameters: {
            query?: never;
            header?: {
                "idempotency-key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateCredentialRequest"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "idempotent-replayed": components["headers"]["AnswerReplayed"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        allowed_models: string[] | null;
                        /** Format: date-time */
                        created_at: string;
                        /** Format: uuid */
                        id: string;
                        label: string;
                        masked_secret: string;
                        /** Format: uuid */
                        project_id: string;
                        provider: string;
                        /** Format: date-time */
                        updated_at: string;
                    };
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "billing.listInFlight": {
        parameters: {
            query?: {
                cursor?: string;
                limit?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InFlightPage"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "billing.stopInFlight": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                request_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        billing_mode: "managed" | "byok";
                        held_microusd: number;
                        /** Format: uuid */
                        id: string;
                        /** Format: uuid */
                        key_id: string;
                        key_name: string | null;
                        requested_model: string;
                        /** Format: date-time */
                        started_at: string;
                    };
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "keys.listKeys": {
        parameters: {
            query?: {
                limit?: string;
                near_limit?: "true" | "false";
                page?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKeysPage"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "keys.createKey": {
        parameters: {
            query?: never;
            header?: {
                "idempotency-key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateMyApiKeyRequest"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "idempotent-replayed": components["headers"]["AnswerReplayed"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        api_key: string;
                        /** Format: uuid */
                        id: string;
                        key_prefix: string;
                        name: string;
                    };
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "members.listMembers": {
        parameters: {
            query?: {
                cursor?: string;
                limit?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MembersPage"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "members.addMember": {
        parameters: {
            query?: never;
            header?: {
                "idempotency-key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateMemberRequest"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "idempotent-replayed": components["headers"]["AnswerReplayed"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** Format: date-time */
                        created_at: string;
                        is_account_owner: boolean;
                        name: string;
                        role: components["schemas"]["ProjectRole"];
                        /** Format: uuid */
                        user_id: string;
                    };
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "members.removeMember": {
        parameters: {
            query: {
                user_id: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "policy.getPolicy": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["EntityTag"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PolicyOut"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "policy.putPolicy": {
        parameters: {
            query?: never;
            header?: {
                "if-match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PolicyInput"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["EntityTag"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PolicyOut"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "policy.simulatePolicy": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PolicyInput"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PolicySimulationOut"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "requests.listRefusals": {
        parameters: {
            query?: {
                cursor?: string;
                limit?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RefusalsPage"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "requests.listRequests": {
        parameters: {
            query?: {
                cursor?: string;
                from?: string;
                key?: string;
                limit?: string;
                model?: string;
                provider?: string;
                q?: string;
                status?: "success" | "error" | "timeout" | "cancelled";
                to?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "Content-Disposition": components["headers"]["Attachment"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestsPage"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "routing.previewRoute": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RouteRequest"];
            };
        };
        responses: {
            /** @description Where a request would be routed to now. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RouteOut"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "routing.listRoutingConfigurations": {
        parameters: {
            query?: {
                cursor?: string;
                limit?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RoutingConfigurationsPage"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "routing.createRoutingConfiguration": {
        parameters: {
            query?: never;
            header?: {
                "idempotency-key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateRoutingConfigurationRequest"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "idempotent-replayed": components["headers"]["AnswerReplayed"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        active_version: components["schemas"]["Int"] | null;
                        alpha?: number | null;
                        /** Format: date-time */
                        created_at: string;
                        enable_fallback?: boolean | null;
                        /** Format: uuid */
                        id: string;
                        managed_by_configuration: boolean;
                        max_input_price_microusd_per_million?: number | null;
                        max_output_price_microusd_per_million?: number | null;
                        models?: string[] | null;
                        name: string;
                        /** Format: uuid */
                        project_id: string;
                        providers?: string[] | null;
                        slug: string;
                        /** Format: date-time */
                        updated_at: string;
                    };
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "routing.getRoutingConfiguration": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                slug: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["EntityTag"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RoutingConfigurationOut"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "routing.putRoutingConfiguration": {
        parameters: {
            query?: never;
            header?: {
                "if-match"?: string;
            };
            path: {
                id: string;
                slug: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RoutingConfigurationInput"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["EntityTag"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RoutingConfigurationOut"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "routing.deleteRoutingConfiguration": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                slug: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "routing.activateRoutingVersion": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                slug: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ActivateVersionRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["EntityTag"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RoutingConfigurationOut"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "routing.listRoutingVersions": {
        parameters: {
            query?: {
                cursor?: string;
                limit?: string;
            };
            header?: never;
            path: {
                id: string;
                slug: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RoutingVersionsPage"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "activity.getSavings": {
        parameters: {
            query?: {
                days?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Estimated savings from routing; an estimate because the best model would have used a different number of tokens. Pinned calls are not included. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SavingsOut"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "requests.getRequest": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One call with all its attempts. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestOut"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "session.getSession": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionOut"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "session.createSession": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateSessionRequest"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "Set-Cookie": components["headers"]["SetCookie"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        csrf_token: string;
                        /** Format: date-time */
                        expires_at: string;
                    } | {
                        /** Format: date-time */
                        expires_at: string;
                        token: string;
                    };
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "session.deleteSession": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "Set-Cookie": components["headers"]["SetCookie"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "session.createSessionLink": {
        parameters: {
            query?: never;
            header?: {
                "idempotency-key"?: string;
                "x-sign-in-proof"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Created */
            201: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "idempotent-replayed": components["headers"]["AnswerReplayed"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** Format: date-time */
                        expires_at: string;
                        url: string;
                    };
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "oidc.finishOidc": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "oidc.startOidc": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "session.listSessions": {
        parameters: {
            query?: {
                cursor?: string;
                limit?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionsPage"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    "session.revokeSession": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
}
