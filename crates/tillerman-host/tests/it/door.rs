//! The door: who is let in, and what is refused before it is read.

use serde_json::json;
use tillerman_host::Role;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio_tungstenite::tungstenite::Error as SocketError;

use crate::harness::{Call, World, within};

const ROUTES: [(&str, &str); 12] = [
    ("GET", "/api/v1/info"),
    ("GET", "/api/v1/conversations"),
    ("POST", "/api/v1/conversations"),
    ("GET", "/api/v1/conversations/x/events"),
    ("POST", "/api/v1/conversations/x/messages"),
    ("POST", "/api/v1/approvals/x/answer"),
    ("GET", "/api/v1/projects"),
    ("GET", "/api/v1/audit"),
    ("GET", "/api/v1/openapi.json"),
    ("GET", "/api/v1/no/such/thing"),
    ("GET", "/api/v2/info"),
    ("GET", "/metrics"),
];

#[tokio::test]
async fn nothing_is_answered_without_a_token() {
    let world = World::new().await;
    for (method, path) in ROUTES {
        let call = || Call::new(world.address, method, path).json(&json!({}));
        assert_eq!(call().send().await.expect_error(401), "unauthorized", "{path}");
        let wrong = call().bearer("0000").send().await;
        assert_eq!(wrong.expect_error(401), "unauthorized", "{path}");
    }
}

#[tokio::test]
async fn other_spellings_of_a_path_lead_nowhere() {
    let world = World::new().await;
    for path in [
        "/Api/v1/conversations",
        "//api/v1/conversations",
        "/api/%2e%2e/api/v1/conversations",
        "/%61pi/v1/conversations",
        "/api/v1/../v1/conversations",
        "/x/../api/v1/conversations",
    ] {
        let answer = Call::new(world.address, "GET", path).send().await;
        assert!(!answer.text.contains("\"conversations\""), "{path}: {answer:?}");
    }
}

#[tokio::test]
async fn a_foreign_name_or_page_is_refused_before_anything_is_read() {
    let world = World::new().await;
    let port = world.address.port();
    for path in ["/", "/api/v1/info", "/healthz", "/assets/x.js"] {
        let call = || Call::new(world.address, "GET", path).bearer(&world.token);
        for host in ["attacker.com", &format!("attacker.com:{port}"), "127.0.0.1", "localhost:1"] {
            let answer = call().header("host", host).send().await;
            assert_eq!(answer.expect_error(403), "wrong_host", "{path} as {host}");
        }
        for origin in ["null", "http://attacker.com", &format!("http://127.0.0.1:{}", port ^ 1)] {
            let answer = call().header("origin", origin).send().await;
            assert_eq!(answer.expect_error(403), "wrong_origin", "{path} from {origin}");
        }
    }
    let ours = format!("localhost:{port}");
    let answer = world.call("GET", "/api/v1/info").header("host", &ours).send().await;
    answer.expect(200);
}

#[tokio::test]
async fn a_name_that_was_allowed_is_one() {
    let allow = |settings: &mut tillerman_host::HostSettings| {
        settings.allowed_hosts = vec!["agents.example".to_owned()];
    };
    let world = World::with(allow).await;
    let call = world.call("GET", "/api/v1/info").header("host", "agents.example");
    call.header("origin", "https://agents.example").send().await.expect(200);
}

#[tokio::test]
async fn sockets_from_foreign_pages_are_refused() {
    let world = World::new().await;
    let bearer = ("authorization", format!("Bearer {}", world.token));
    for origin in ["http://attacker.com", "null", "file://"] {
        let refused = world.connect(&[bearer.clone(), ("origin", origin.to_owned())]).await;
        let Err(SocketError::Http(answer)) = refused else { panic!("{origin} was let in") };
        assert_eq!(answer.status(), 403);
    }
    let mut stranger = world.connect(&[]).await.unwrap();
    assert_eq!(stranger.next().await, 4_401);
}

#[tokio::test]
async fn the_token_is_used_once_in_the_address_and_a_cookie_takes_its_place() {
    let world = World::new().await;
    let first = Call::new(world.address, "GET", &format!("/?token={}", world.token)).send().await;
    assert_eq!((first.status, first.header("location")), (303, Some("/")));
    let cookie = first.header("set-cookie").unwrap().to_owned();
    assert!(cookie.contains("httponly") && cookie.contains("samesite=strict"));
    let cookie = cookie.split(';').next().unwrap().to_owned();
    assert!(!cookie.contains(&world.token));
    let origin = format!("http://{}", world.address);
    let call =
        |method, path: &str| Call::new(world.address, method, path).header("cookie", &cookie);
    call("GET", "/api/v1/info").send().await.expect(200);
    let post = || call("POST", "/api/v1/conversations").json(&json!({}));
    assert_eq!(post().send().await.expect_error(403), "forbidden", "no origin");
    post().header("origin", &origin).send().await.expect(201);
    let form = call("POST", "/api/v1/conversations").raw(b"{}".to_vec()).header("origin", &origin);
    let form = form.header("content-type", "text/plain").send().await;
    assert_eq!(form.expect_error(415), "unsupported_media_type");
    let bare = world.connect(&[("cookie", cookie.clone())]).await;
    assert!(bare.is_err(), "a socket with a cookie needs an origin");
    let mut socket =
        world.connect(&[("cookie", cookie.clone()), ("origin", origin)]).await.unwrap();
    assert!(socket.answers().await);
    drop(socket);
    // The cookie outlives the host, and not its user's token.
    let world = world.again(|_| {}).await;
    let info = || Call::new(world.address, "GET", "/api/v1/info").header("cookie", &cookie);
    info().send().await.expect(200);
    world.user("owner", Role::Owner).await;
    let world = world.again(|_| {}).await;
    let info = Call::new(world.address, "GET", "/api/v1/info").header("cookie", &cookie);
    assert_eq!(info.send().await.expect_error(401), "unauthorized");
}

#[tokio::test]
async fn guessing_is_stopped() {
    let world = World::new().await;
    for _ in 0..20 {
        Call::new(world.address, "GET", "/api/v1/info").bearer("guess").send().await.expect(401);
    }
    let barred = Call::new(world.address, "GET", "/api/v1/info").bearer("guess").send().await;
    assert_eq!(barred.expect_error(429), "too_many_attempts");
    let barred = Call::new(world.address, "GET", "/?token=guess").send().await;
    assert_eq!(barred.expect_error(429), "too_many_attempts");
}

#[tokio::test]
async fn every_answer_says_what_browsers_may_do_with_it() {
    let world = World::new().await;
    for path in ["/", "/api/v1/info", "/healthz", "/missing.js"] {
        let answer = Call::new(world.address, "GET", path).send().await;
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"));
        assert!(!policy.contains("unsafe"), "{policy}");
        assert!(policy.contains("require-trusted-types-for 'script'"), "{policy}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{path}");
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"), "{path}");
    }
    let health = Call::new(world.address, "GET", "/healthz").send().await;
    assert_eq!(health.expect(200), json!({"status": "ok"}));
}

#[tokio::test]
async fn bodies_have_a_size_and_a_form() {
    let world = World::with(|settings| settings.max_upload_bytes = 100_000).await;
    let id = world.conversation().await;
    let large = vec![b' '; 2 * 1024 * 1024];
    for path in ["/api/v1/conversations", &format!("/api/v1/conversations/{id}/messages")] {
        let call = world.call("POST", path).header("content-type", "application/json");
        assert_eq!(call.raw(large.clone()).send().await.expect_error(413), "too_large");
        for wrong in ["{", "[]", "{\"no_such_field\":1}", "{\"title\":7}", "\u{0}"] {
            let call = world.call("POST", path).header("content-type", "application/json");
            let answer = call.raw(wrong.as_bytes().to_vec()).send().await;
            assert_eq!(answer.expect_error(400), "bad_request", "{path} {wrong}");
        }
    }
    for id in ["..%2F..%2Fx", &"a".repeat(300), "%00", "CON"] {
        let answer = world.get(&format!("/conversations/{id}")).await;
        assert!(matches!(answer.status, 400 | 404), "{id}: {answer:?}");
    }
}

#[tokio::test]
async fn viewers_look_and_nothing_else() {
    let world = World::new().await;
    let id = world.conversation().await;
    let viewer = world.user("vera", Role::Viewer).await;
    let call = |method, path: &str| {
        Call::new(world.address, method, &format!("/api/v1{path}")).bearer(&viewer).json(&json!({}))
    };
    let info = call("GET", "/info").send().await.expect(200);
    assert_eq!(info["user"], json!({"name": "vera", "role": "viewer"}));
    let root = world.root.path().to_str().unwrap();
    assert!(!info.to_string().contains(root), "a path of the host is told: {info}");
    call("GET", &format!("/conversations/{id}")).send().await.expect(200);
    for (method, path) in [
        ("POST", "/conversations".to_owned()),
        ("PATCH", format!("/conversations/{id}")),
        ("DELETE", format!("/conversations/{id}")),
        ("POST", format!("/conversations/{id}/messages")),
        ("POST", format!("/conversations/{id}/interrupt")),
        ("POST", format!("/conversations/{id}/rewind")),
        ("POST", "/projects".to_owned()),
        ("PATCH", "/approvals/policy".to_owned()),
        ("GET", "/audit".to_owned()),
    ] {
        assert_eq!(call(method, &path).send().await.expect_error(403), "forbidden", "{path}");
    }
    world.store.remove_user("vera").await.unwrap();
    assert_eq!(call("GET", "/info").send().await.expect_error(401), "unauthorized");
}

#[tokio::test]
async fn a_head_that_never_ends_is_not_waited_for() {
    let world = World::new().await;
    let mut stream = tokio::net::TcpStream::connect(world.address).await.unwrap();
    let head = format!("GET / HTTP/1.1\r\nx: {}\r\n", "y".repeat(200_000));
    drop(stream.write_all(head.as_bytes()).await);
    let mut answer = Vec::new();
    drop(within("an end", stream.read_to_end(&mut answer)).await);
    let answer = String::from_utf8_lossy(&answer);
    assert!(answer.is_empty() || answer.contains(" 431 "), "{answer}");
}

#[tokio::test]
async fn a_connection_that_says_nothing_or_drips_is_closed() {
    let hasty = |settings: &mut tillerman_host::HostSettings| {
        settings.timeouts.head = std::time::Duration::from_millis(100);
    };
    let world = World::with(hasty).await;
    for beginning in ["", "GET /api/v1/info HTTP/1.1\r\nhost: x\r\n"] {
        let mut stream = tokio::net::TcpStream::connect(world.address).await.unwrap();
        stream.write_all(beginning.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        drop(within("the end of the connection", stream.read_to_end(&mut answer)).await);
        let answer = String::from_utf8_lossy(&answer);
        assert!(answer.is_empty() || answer.contains(" 408 "), "{answer}");
    }
    world.get("/info").await.expect(200);
}

#[tokio::test]
async fn an_address_for_other_machines_is_refused() {
    use std::sync::Arc;
    use tillerman_host::{Host, HostSettings, ServeError, Store, Subprocess};
    let root = tempfile::tempdir().unwrap();
    let store = Store::open(root.path()).unwrap();
    let launcher = Subprocess {
        program: "/bin/false".into(),
        environment: Vec::new(),
        scratch: root.path().join("run"),
        run_as: None,
        probe_address: None,
    };
    let settings = HostSettings::new(root.path().to_owned());
    let now = Arc::new(|| tillerman_protocol::Moment::from_millis(0));
    let host = Host::prepare(settings, store, Arc::new(launcher), now).await.unwrap();
    let listener = tokio::net::TcpListener::bind("0.0.0.0:0").await.unwrap();
    let served = host.serve(listener, tokio_util::sync::CancellationToken::new()).await;
    assert!(matches!(served, Err(ServeError::NotLoopback(_))));
}
